/** Sessions that the agent leads by itself, those below them with them; each can be looked into. */
import type { SessionName } from "../feed";
import { oneLine, printable } from "../plain_text";
import type { JsonObject } from "../state";
import { memo, useView } from "./context";
import { Fold, Raw, Status } from "./parts";

export const Subagents = memo(function Subagents(props: {
  subagents: JsonObject;
  /** All sessions of the feed, in which those that have sent something are. */
  sessions: readonly SessionName[];
}) {
  return (
    <ul class="cards" aria-label="Subagents">
      {Object.entries(props.subagents).map(([id, told]) => (
        <Subagent key={id} id={id} told={told as JsonObject} sessions={props.sessions} />
      ))}
    </ul>
  );
});

function Subagent(props: { id: string; told: JsonObject | null; sessions: readonly SessionName[] }) {
  const { id, told, sessions } = props;
  const { store } = useView();
  const shown = sessions.find((session) => session.id === id && session.parent != null);
  const below = sessions.filter((session) => session.parent === id);
  const state = told?.state as JsonObject | string | null | undefined;
  const word = typeof state === "string" ? state : (state?.state ?? shown?.status);
  const error = typeof state === "object" ? ((state?.error as JsonObject | null | undefined)?.message ?? null) : null;
  return (
    <li class="card" data-subagent={id}>
      <strong>{oneLine(String(told?.title ?? shown?.title ?? id))}</strong>{" "}
      {typeof word === "string" && <Status word={word} />}
      {typeof told?.description === "string" && <p class="note">{printable(told.description)}</p>}
      {typeof error === "string" && <p class="problem">{printable(error)}</p>}
      {shown !== undefined && (
        <button type="button" class="quiet" onClick={() => store.show(id)}>
          Look into it
        </button>
      )}
      {told !== null && (
        <Fold name={`subagent ${id}`} summary="What the agent told">
          {() => <Raw value={told} />}
        </Fold>
      )}
      {below.length > 0 && (
        <ul class="cards nested" aria-label={`Subagents of ${oneLine(String(told?.title ?? id), 60)}`}>
          {below.map((child) => (
            <Subagent key={child.id} id={child.id} told={null} sessions={sessions} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Where one is while one looks into a subagent, and the way back. */
export const SubagentBar = memo(function SubagentBar(props: { session: SessionName; sessions: readonly SessionName[] }) {
  const { store, agent } = useView();
  const parent = props.sessions.find((session) => session.id === props.session.parent);
  return (
    <nav class="subagent-bar" aria-label="Subagent" data-area>
      {parent !== undefined && (
        <button type="button" class="quiet" onClick={() => store.show(parent.id)}>
          ← {oneLine(parent.title || parent.id, 40)}
        </button>
      )}{" "}
      <span>
        A subagent of {agent}: <strong>{oneLine(props.session.title || props.session.id, 80)}</strong>
      </span>
    </nav>
  );
});
