/** What a command prints, as plain text. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { oneLine, terminalText } from "../plain_text";
import type { Terminal } from "../state";
import { memo, useCommand, useView } from "./context";
import { Status, useFirst } from "./parts";

/** The newest characters that are drawn; the state has more. */
const MOST_DRAWN = 60_000;

export const TerminalView = memo(function TerminalView(props: { terminal: Terminal | undefined; id: string }) {
  const { terminal } = props;
  const { controls } = useView();
  const command = useCommand();
  const text = useMemo(() => newest(terminal?.output ?? []), [terminal?.output]);
  const place = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = place.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  if (terminal === undefined) return <p class="note">The terminal {oneLine(props.id)} is not known.</p>;
  return (
    <figure class="terminal" aria-label={`Terminal: ${oneLine(terminal.command, 80)}`}>
      <figcaption>
        <code>{oneLine(terminal.command) || "a command"}</code> <Status word={ending(terminal)} />
        {terminal.owner === "agent" && <span class="badge">run by the agent</span>}
        {terminal.cancellable && controls && (
          <button type="button" class="quiet" onClick={() => command("cancel_terminal", { terminalId: props.id })}>
            Stop
          </button>
        )}
      </figcaption>
      <pre
        ref={place}
        tabIndex={0}
        onScroll={({ currentTarget: pre }) => {
          follows.current = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 8;
        }}
      >
        {(terminal.truncated || text.cut) && "…\n"}
        {text.shown}
      </pre>
    </figure>
  );
});

const MOST_TERMINALS = 20;

/** All commands of the session, newest first. */
export const Terminals = memo(function Terminals(props: { terminals: { [id: string]: Terminal } }) {
  const newestFirst = Object.entries(props.terminals).toReversed();
  const [shown, more] = useFirst(newestFirst, MOST_TERMINALS, "terminals", "commands");
  if (shown.length === 0) return <p class="note">No command was run.</p>;
  return (
    <>
      {shown.map(([id, terminal]) => (
        <TerminalView key={id} id={id} terminal={terminal} />
      ))}
      {more}
    </>
  );
});

function newest(segments: readonly string[]): { shown: string; cut: boolean } {
  let first = segments.length;
  for (let size = 0; first > 0 && size < MOST_DRAWN; ) size += segments[--first]!.length;
  return { shown: terminalText(segments.slice(first).join("")), cut: first > 0 };
}

function ending(terminal: Terminal): string {
  if (!terminal.ended) return "running";
  if (terminal.signal) return `ended by ${terminal.signal}`;
  return terminal.exitCode === null ? "ended" : terminal.exitCode === 0 ? "completed" : `exit code ${terminal.exitCode}`;
}
