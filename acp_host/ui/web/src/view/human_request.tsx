/** Something that a Harn agent wants from a person, and the answer. The frame and the name in it are the host's. */
import { useState } from "preact/hooks";
import type { Json } from "../json_patch";
import { printable } from "../plain_text";
import type { JsonObject } from "../state";
import { useCommand, useView } from "./context";
import { Fold, Raw, Status } from "./parts";

/** The words of a yes and a no to each kind that takes one, and the member that says which. */
const DECISIONS: { [kind: string]: { member: string; yes: string; no: string } } = {
  approval: { member: "approved", yes: "Approve", no: "Reject" },
  dual_control: { member: "approved", yes: "Approve", no: "Reject" },
  escalation: { member: "accepted", yes: "Accept", no: "Decline" },
};

export function HumanRequest(props: { request: JsonObject }) {
  const { request } = props;
  const { agent } = useView();
  const status = String(request.status);
  const payload = (request.payload ?? {}) as JsonObject;
  const approval = (payload.approval_request ?? {}) as JsonObject;
  const words = [payload.prompt, payload.detail, approval.action].find((one) => typeof one === "string" && one !== "");
  return (
    <>
      <p class="toast-name">
        {agent} wants something from you <Status word={status} />
      </p>
      <p class="plain">{printable(String(words ?? request.kind ?? ""))}</p>
      {(status === "open" || status === "unanswered") && <Answer request={request} schema={payload.schema as JsonObject | undefined} />}
      <Fold name={`human request ${String(request.requestId)}`} summary="The request as it came">
        {() => <Raw value={payload} />}
      </Fold>
    </>
  );
}

function Answer(props: { request: JsonObject; schema: JsonObject | undefined }) {
  const { controls } = useView();
  const command = useCommand();
  const [text, setText] = useState("");
  const kind = String(props.request.kind);
  const decision = Object.hasOwn(DECISIONS, kind) ? DECISIONS[kind] : undefined;
  if (decision === undefined && kind !== "question") return null;
  const send = (answer: JsonObject) => void command("answer_human", { request: props.request.requestId, ...answer });
  const decide = (yes: boolean) => send({ [decision!.member]: yes, ...(text.trim() && { reason: text.trim() }) });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (decision === undefined) send({ answer: readAnswer(text, props.schema) });
      }}
    >
      <input
        value={text}
        disabled={!controls}
        aria-label={decision ? "Reason" : "Answer"}
        placeholder={decision ? "Reason, if you like" : "Answer"}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="answers">
        {decision ? (
          <>
            <button type="button" class="primary" disabled={!controls} onClick={() => decide(true)}>
              {decision.yes}
            </button>
            <button type="button" class="danger" disabled={!controls} onClick={() => decide(false)}>
              {decision.no}
            </button>
          </>
        ) : (
          <button type="submit" class="primary" disabled={!controls}>
            Send
          </button>
        )}
      </div>
    </form>
  );
}

/** A text, or the JSON that it is where the agent wants something else than text. */
function readAnswer(text: string, schema: JsonObject | undefined): Json {
  if (schema?.type === undefined || schema.type === "string") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
