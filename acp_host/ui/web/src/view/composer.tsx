/** Where the user writes: the prompt, slash commands, sending and cancelling. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Offers } from "../feed";
import { oneLine } from "../plain_text";
import type { Command, SessionState, Turn } from "../state";
import { asPrompt, type Attaching, AttachmentBar, readTyped, useAttachments } from "./attachments";
import { memo, useCommand, useKeptOfSession, useView } from "./context";

const MOST_SUGGESTED = 12;

export const Composer = memo(function Composer(props: { commands: SessionState["commands"]; turn: Turn; offers: Offers }) {
  const { controls, id, failed } = useView();
  const command = useCommand();
  const [text, setText] = useKeptOfSession("draft", "");
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const attaching = useAttachments(props.offers);
  const [attachOpen, setAttachOpen] = useState(false);
  const suggested = suggestions(text, props.commands);
  const busy = props.turn.status !== "idle";
  useEffect(() => setChosen(0), [text]);

  async function submit() {
    if (text.trim() === "" || !controls) return;
    const { attachments } = attaching;
    const prompt = asPrompt(text, attachments);
    if (prompt === null) return failed("The prompt is larger than 8 MB with all that is attached: take something away.");
    setText("");
    attaching.set([]);
    if (await command("prompt", prompt)) return;
    // What was typed and attached meanwhile stays behind it.
    const typed = field.current?.value ?? "";
    setText(typed === "" ? text : `${text}\n${typed}`);
    attaching.set((added) => [...attachments, ...added]);
  }

  function take(suggestion: Command) {
    setText(`/${suggestion.name} `);
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    const open = suggested.length > 0;
    if (event.isComposing) return;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const step = event.key === "ArrowDown" ? 1 : -1;
      setChosen((chosen + step + suggested.length) % suggested.length);
    } else if (open && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) take(suggested[chosen]!);
    else if (open && event.key === "Escape") setText(`${text} `);
    else if (event.key === "Enter" && !event.shiftKey) void submit();
    else return;
    event.preventDefault();
  }

  return (
    <form
      class="composer"
      data-area
      aria-label="Prompt"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => controls && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (controls) void drop(event.dataTransfer, attaching);
      }}
    >
      {suggested.length > 0 && (
        <ul class="suggestions" role="listbox" id={id("suggestions")} aria-label="Commands">
          {suggested.map((suggestion, index) => (
            <li
              key={suggestion.name}
              id={id(`suggestion-${index}`)}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(suggestion);
              }}
            >
              <code>/{oneLine(suggestion.name, 60)}</code> {oneLine(suggestion.description, 120)}
              {suggestion.input?.hint && <em> {oneLine(suggestion.input.hint, 60)}</em>}
            </li>
          ))}
        </ul>
      )}
      <Queue queued={props.turn.queued} />
      <AttachmentBar attaching={attaching} open={attachOpen && controls} close={() => setAttachOpen(false)} />
      <div class="composer-row">
        <textarea
          ref={field}
          rows={Math.min(8, Math.max(2, text.split("\n").length))}
          value={text}
          disabled={!controls}
          aria-label="Message to the agent"
          aria-haspopup="listbox"
          aria-controls={suggested.length > 0 ? id("suggestions") : undefined}
          aria-activedescendant={suggested.length > 0 ? id(`suggestion-${chosen}`) : undefined}
          aria-autocomplete="list"
          placeholder={controls ? "Message. Enter sends, Shift+Enter begins a line, / lists commands" : "You are looking on"}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length === 0) return;
            event.preventDefault();
            void attaching.addFiles(files);
          }}
        />
        <button type="button" disabled={!controls} aria-expanded={attachOpen} onClick={() => setAttachOpen(!attachOpen)}>
          Attach
        </button>
        <button type="submit" class="primary" disabled={!controls || text.trim() === ""}>
          {busy ? "Queue" : "Send"}
        </button>
        {busy && (
          <button type="button" class="danger" disabled={!controls} onClick={() => command("cancel")}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
});

/** Takes what was dropped: files, or the addresses of links. */
async function drop(data: DataTransfer | null, attaching: Attaching): Promise<void> {
  if (data === null) return;
  const addresses = data.getData("text/uri-list").split(/\r?\n/);
  const files = [...data.files];
  if (files.length > 0) return attaching.addFiles(files);
  for (const address of addresses) if (address !== "" && !address.startsWith("#")) attaching.add(readTyped(address));
}

/** The prompts that wait for their turn; each can be taken back. */
function Queue(props: { queued: Turn["queued"] }) {
  const { controls } = useView();
  const command = useCommand();
  if (props.queued.length === 0) return null;
  return (
    <ul class="queue" aria-label="Prompts that wait">
      {props.queued.map((waiting) => (
        <li key={waiting.turn} class="note">
          <button type="button" class="quiet" disabled={!controls} onClick={() => command("cancel", { turn: waiting.turn })}>
            Take back
          </button>{" "}
          {oneLine(waiting.prompt.map((block) => String(block.text ?? block.type)).join(" "), 120)}
        </li>
      ))}
    </ul>
  );
}

function suggestions(text: string, commands: readonly Command[]): Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  if (typed === undefined) return [];
  return commands.filter((command) => command.name.startsWith(typed)).slice(0, MOST_SUGGESTED);
}
