/** A tool call: what it is, how far it has come, and what it shows. */
import { oneLine } from "../plain_text";
import type { ContentBlock, Terminal, ToolCallEntry, ToolContent } from "../state";
import { memo, useCommand, useView } from "./context";
import { Block } from "./content_block";
import { DiffView, PatchView } from "./diff_view";
import { Fold, Raw, Status, useFirst } from "./parts";
import { TerminalView } from "./terminal_view";

const MOST_PLACES = 50;
const MOST_CONTENTS = 100;

export const ToolCall = memo(function ToolCall(props: { entry: ToolCallEntry; terminals: { [id: string]: Terminal } }) {
  const { entry } = props;
  const { controls } = useView();
  const command = useCommand();
  const title = oneLine(entry.title || entry.name || entry.toolCallId);
  const [locations, moreLocations] = useFirst(entry.locations ?? [], MOST_PLACES, `places ${entry.position}`, "places");
  const [contents, moreContents] = useFirst(entry.content ?? [], MOST_CONTENTS, `contents ${entry.position}`, "parts");
  const status = entry.unfinished && entry.status !== "completed" && entry.status !== "failed" ? "unfinished" : entry.status;
  return (
    <section class="tool-call" aria-label={`Tool call: ${title}`}>
      <header>
        <span class="kind">{oneLine(entry.kind ?? "tool", 24)}</span> <span class="title">{title}</span>{" "}
        <Status word={status} />
        {entry.cancellable && controls && (
          <button type="button" class="quiet" onClick={() => command("cancel_tool_call", { toolCallId: entry.toolCallId })}>
            Stop
          </button>
        )}
      </header>
      {locations.map((location, index) => (
        <code key={index} class="location">
          {oneLine(location.path)}
          {location.line ? `:${location.line}` : ""}
        </code>
      ))}
      {moreLocations}
      {contents.map((content, index) => (
        <Content key={index} content={content} terminals={props.terminals} name={`${entry.position} ${index}`} />
      ))}
      {moreContents}
      {(entry.rawInput !== null || entry.rawOutput !== null) && (
        <Fold name={`raw ${entry.position}`} summary="Input and output">
          {() => (
            <>
              {entry.rawInput !== null && <Raw value={entry.rawInput} />}
              {entry.rawOutput !== null && <Raw value={entry.rawOutput} />}
            </>
          )}
        </Fold>
      )}
      {entry.harn && (
        <Fold name={`harn ${entry.position}`} summary="What the agent says of the call">
          {() => <Raw value={entry.harn} />}
        </Fold>
      )}
    </section>
  );
});

function Content(props: { content: ToolContent; terminals: { [id: string]: Terminal }; name: string }) {
  const { content, name } = props;
  if (content.type === "content") return <Block block={content.content as ContentBlock} name={name} />;
  if (content.type === "terminal") {
    const id = String(content.terminalId);
    return <TerminalView id={id} terminal={Object.hasOwn(props.terminals, id) ? props.terminals[id] : undefined} />;
  }
  if (content.type === "diff") return <Diff content={content} name={name} />;
  return (
    <Fold name={name} summary={`Content of kind “${oneLine(content.type)}”`}>
      {() => <Raw value={content} />}
    </Fold>
  );
}

interface Change {
  operation: string;
  path?: string;
  oldPath?: string;
}

function Diff(props: { content: ToolContent; name: string }) {
  const { content } = props;
  if (!Array.isArray(content.changes)) {
    const oldText = typeof content.oldText === "string" ? content.oldText : null;
    return <DiffView path={String(content.path)} oldText={oldText} newText={String(content.newText)} name={props.name} />;
  }
  return <PatchedFiles changes={content.changes as unknown as Change[]} content={content} name={props.name} />;
}

function PatchedFiles(props: { changes: readonly Change[]; content: ToolContent; name: string }) {
  const patch = props.content.patch as { text?: string } | null | undefined;
  const [changes, more] = useFirst(props.changes, MOST_PLACES, `files ${props.name}`, "files");
  return (
    <>
      <ul class="changes">
        {changes.map((change, index) => (
          <li key={index}>
            <span class="kind">{oneLine(change.operation, 20)}</span>{" "}
            <code>{[change.oldPath, change.path].filter((path) => path !== undefined).map((path) => oneLine(path!)).join(" → ")}</code>
          </li>
        ))}
      </ul>
      {more}
      {patch?.text && <PatchView patch={patch.text} label={changes.map((change) => change.path ?? "").join(", ")} name={props.name} />}
    </>
  );
}
