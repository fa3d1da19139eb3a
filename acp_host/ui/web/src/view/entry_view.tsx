/** One entry of the transcript. */
import { oneLine, printable } from "../plain_text";
import type { Entry, MessageEntry, Terminal } from "../state";
import { useRef, useState } from "preact/hooks";
import { memo, useView } from "./context";
import { Parts } from "./content_block";
import { Fold, Raw, Status } from "./parts";
import { ToolCall } from "./tool_call";

/** An entry, drawn when there is time for it; until then there is a place of its height. */
export function EntrySlot(props: { entry: Entry | null; terminals: { [id: string]: Terminal }; height: number }) {
  const { budget } = useView();
  const [, redraw] = useState(0);
  const again = useRef(() => redraw((count) => count + 1)).current;
  const drawn = useRef(false);
  if (props.entry !== null) drawn.current ||= budget.allows(again);
  if (props.entry === null || !drawn.current) {
    return (
      <p class={props.entry === null ? "note" : "note undrawn"} style={{ height: `${props.height}px` }}>
        …
      </p>
    );
  }
  return <EntryView entry={props.entry} terminals={props.terminals} />;
}

const EntryView = memo(function EntryView(props: { entry: Entry; terminals: { [id: string]: Terminal } }) {
  const { entry } = props;
  const { agent } = useView();
  const name = `entry ${entry.position}`;
  switch (entry.type) {
    case "message":
      return <Message entry={entry} />;
    case "tool_call":
      return <ToolCall entry={entry} terminals={props.terminals} />;
    case "compaction":
      return (
        <section class="event">
          The agent shortened its context. <Status word={entry.status} />
          {entry.error !== null && <p class="problem">{printable(entry.error)}</p>}
          <Parts parts={entry.summary} name={name} />
        </section>
      );
    case "session_message":
      return (
        <section class="event">
          Message between sessions, {oneLine(entry.senderSessionId ?? "?")} to {oneLine(entry.recipientSessionId ?? "?")}
          <Parts parts={entry.parts} name={name} />
        </section>
      );
    case "history":
      return (
        <section class="event">
          {agent}: {oneLine(entry.action.replaceAll("_", " "))}
          {entry.removedTurns !== null && `, ${entry.removedTurns} turns`}
          {entry.reason && `: ${oneLine(entry.reason)}`}
        </section>
      );
    case "connection":
      return <section class="event">{oneLine(entry.summary, 600)}</section>;
    case "reminder":
      return (
        <section class="event reminder-text">
          <span class="badge">Context from the host, not typed by you</span>
          <p class="plain">{printable(entry.body)}</p>
        </section>
      );
    default:
      return (
        <section class="event">
          <Fold name={name} summary={`Not known here: “${oneLine(String(entry.tag ?? entry.type))}”`}>
            {() => <Raw value={entry.data ?? null} />}
          </Fold>
        </section>
      );
  }
});

function Message(props: { entry: MessageEntry }) {
  const { entry } = props;
  const { agent } = useView();
  const name = `message ${entry.position}`;
  if (entry.speaker === "thought") {
    return (
      <section class="message thought">
        <Fold name={name} summary="Thought">
          {() => <Parts parts={entry.parts} name={name} />}
        </Fold>
      </section>
    );
  }
  const own = entry.speaker === "user";
  return (
    <section class={`message ${own ? "user" : "assistant"}`}>
      <h3 class="speaker">{own ? "You" : entry.speaker === "assistant" ? agent : oneLine(entry.speaker)}</h3>
      <Parts parts={entry.parts} name={name} plain={own} />
    </section>
  );
}
