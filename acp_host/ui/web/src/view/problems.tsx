/** What was dropped, repaired or unexpected: most of all what an agent asked for and this host cannot do. */
import type { Diagnostic } from "../feed";
import { oneLine, printable } from "../plain_text";
import { memo } from "./context";
import { Fold, Raw } from "./parts";

/** The kind of a diagnostic about a request whose method nobody here knows. */
export const NOT_SERVED = "unknown_method";

export const Problems = memo(function Problems(props: { diagnostics: readonly Diagnostic[]; agent: string }) {
  if (props.diagnostics.length === 0) return <p class="note">Nothing was dropped, repaired or unexpected.</p>;
  return (
    <ul class="cards" aria-label="Diagnostics">
      {props.diagnostics.toReversed().map((diagnostic) => (
        <Problem key={diagnostic.number} diagnostic={diagnostic} agent={props.agent} />
      ))}
    </ul>
  );
});

const Problem = memo(function Problem(props: { diagnostic: Diagnostic; agent: string }) {
  const { diagnostic } = props;
  const unserved = diagnostic.kind === NOT_SERVED;
  return (
    <li class={unserved ? "card look-warning" : "card"}>
      {unserved && (
        <p class="toast-name">
          {props.agent} asked for something that this host cannot do: <code>{oneLine(diagnostic.method ?? "?", 120)}</code>
        </p>
      )}
      <p>
        <span class="badge">{oneLine(diagnostic.kind.replaceAll("_", " "), 40)}</span> {printable(diagnostic.message)}
        {diagnostic.count > 1 && <span class="badge">{diagnostic.count} times</span>}
      </p>
      {!unserved && diagnostic.method !== null && <code>{oneLine(diagnostic.method, 120)}</code>}
      {diagnostic.data !== null && (
        <Fold name={`diagnostic ${diagnostic.number}`} open={unserved} summary="What came">
          {() => <Raw value={diagnostic.data} />}
        </Fold>
      )}
    </li>
  );
});
