/** Small pieces that others are made of. */
import type { ComponentChildren } from "preact";
import { readTarget } from "../links";
import { oneLine, printable } from "../plain_text";
import type { Json } from "../json_patch";
import { useKeptOfSession } from "./context";

/** What opens and closes; what is in it is drawn only while it is open. */
export function Fold(props: {
  name: string;
  summary: ComponentChildren;
  open?: boolean;
  children: () => ComponentChildren;
}) {
  const [open, setOpen] = useKeptOfSession(`fold ${props.name}`, props.open ?? false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {open && props.children()}
    </details>
  );
}

/**
 * Of a long list, which an agent makes as long as it likes: what is drawn of it, and a button for the rest.
 *
 * @param most how many are drawn at first.
 * @param name tells it apart from the other lists of the session.
 * @param what they are called, as in "Show 7 more lines".
 */
export function useFirst<T>(items: readonly T[], most: number, name: string, what: string): [readonly T[], ComponentChildren] {
  const [all, setAll] = useKeptOfSession(`all ${name}`, false);
  if (all || items.length <= most) return [items, null];
  const more = (
    <button type="button" class="quiet" onClick={() => setAll(true)}>
      Show {items.length - most} more {what}
    </button>
  );
  return [items.slice(0, most), more];
}

/** An address of the agent's: a link with its target where it can be opened, else text. */
export function Address(props: { address: string; text?: string | null }) {
  const target = readTarget(props.address);
  const text = props.text ? oneLine(props.text) : "";
  if (target === null) {
    return (
      <span>
        {text} <code>{oneLine(props.address)}</code>
      </span>
    );
  }
  return (
    <span>
      <a href={target.href} target="_blank" rel="noopener noreferrer nofollow" title={target.href}>
        {text || target.shown}
      </a>
      {text && <span class="link-target"> ({target.shown})</span>}
    </span>
  );
}

const MOST_RAW = 20_000;

/** JSON as the agent sent it, as plain text. */
export function Raw(props: { value: Json }) {
  const text = JSON.stringify(props.value, null, 2) ?? "";
  return <pre class="raw">{printable(text.length > MOST_RAW ? `${text.slice(0, MOST_RAW)}\n…` : text)}</pre>;
}

/** A word of a status, with a class that colours it. The word itself is always there. */
export function Status(props: { word: string | null }) {
  const word = props.word ?? "unknown";
  return <span class={`status status-${word.replace(/[^a-z_]/g, "")}`}>{oneLine(word.replaceAll("_", " "), 40)}</span>;
}
