/** Child sessions that the agent has told of. */
import { oneLine } from "../plain_text";
import type { JsonObject } from "../state";
import { memo } from "./context";
import { Fold, Raw, Status } from "./parts";

export const Subagents = memo(function Subagents(props: { subagents: JsonObject }) {
  return (
    <ul class="cards" aria-label="Subagents">
      {Object.entries(props.subagents).map(([id, told]) => {
        const subagent = told as JsonObject;
        return (
          <li key={id} class="card">
            <strong>{oneLine(String(subagent.title ?? subagent.name ?? id))}</strong>{" "}
            {typeof subagent.status === "string" && <Status word={subagent.status} />}
            <Fold name={`subagent ${id}`} class="details" summary="What the agent told">
              {() => <Raw value={subagent} />}
            </Fold>
          </li>
        );
      })}
    </ul>
  );
});
