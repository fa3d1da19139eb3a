/** What goes along with a prompt: files, pictures, paths and addresses, chosen, pasted or dropped. */
import { type Dispatch, type StateUpdater, useRef, useState } from "preact/hooks";
import type { Offers } from "../feed";
import { oneLine } from "../plain_text";
import { useView } from "./context";
import { smallEnough } from "./pictures";

export type Attachment =
  | { kind: "link"; name: string; uri: string }
  | { kind: "path"; name: string; path: string }
  | { kind: "file"; name: string; text: string }
  | { kind: "image"; name: string; data: string };

const MOST = 20;
const LARGEST_TEXT = 256 * 1024;
/** Bytes of a prompt with all that goes along; a larger command would cost the connection. */
const LARGEST_PROMPT = 8_000_000;

/** Returns the members of the command for a prompt; `null`: it is too large to be sent. */
export function asPrompt(text: string, attachments: readonly Attachment[]): { [name: string]: unknown } | null {
  const members: { [name: string]: unknown[] } = {};
  const add = (name: string, value: unknown) => (members[name] ??= []).push(value);
  for (const one of attachments) {
    if (one.kind === "link") add("attachments", one.uri);
    else if (one.kind === "path") add("paths", one.path);
    else if (one.kind === "file") add("files", { name: one.name, text: one.text });
    else add("images", one.data);
  }
  const prompt = { text, ...members };
  return new Blob([JSON.stringify(prompt)]).size > LARGEST_PROMPT ? null : prompt;
}

/** Reads what was typed: an address, or a path in the session's directory. */
export function readTyped(text: string): Attachment | null {
  const typed = text.trim();
  if (typed === "") return null;
  if (/^(https?|file):\/\//i.test(typed)) return { kind: "link", name: typed, uri: typed };
  return { kind: "path", name: typed, path: typed };
}

/**
 * Reads a file that was chosen, pasted or dropped.
 *
 * @throws Error it cannot go along; the message says why, for people.
 */
async function readFile(file: File, offers: Offers): Promise<Attachment> {
  const name = file.name || "picture";
  if (file.type.startsWith("image/") && file.type !== "image/svg+xml") {
    if (!offers.images) throw new Error("The agent takes no pictures.");
    return { kind: "image", name, data: await smallEnough(file) };
  }
  if (!offers.files) throw new Error("The agent takes no files; attach one by its path or address.");
  if (file.size > LARGEST_TEXT) throw new Error(`${name} is larger than 256 KiB; attach it by its path.`);
  const text = await file.text();
  if (text.includes("\0") || text.includes("\ufffd")) throw new Error(`${name} is no text; attach it by its path.`);
  return { kind: "file", name, text };
}

export interface Attaching {
  attachments: readonly Attachment[];
  addFiles: (files: Iterable<File>) => Promise<void>;
  add: (attachment: Attachment | null) => void;
  set: Dispatch<StateUpdater<readonly Attachment[]>>;
}

/** What is attached so far, and how to attach more. */
export function useAttachments(offers: Offers): Attaching {
  const { failed } = useView();
  const [attachments, set] = useState<readonly Attachment[]>([]);
  const latest = useRef(attachments);
  latest.current = attachments;
  const add = (attachment: Attachment | null) => {
    if (attachment === null) return;
    if (latest.current.length >= MOST) return failed(`At most ${MOST} things can be attached.`);
    latest.current = [...latest.current, attachment];
    set(latest.current);
  };
  const addFiles = async (files: Iterable<File>) => {
    for (const file of files) {
      try {
        add(await readFile(file, offers));
      } catch (error) {
        failed((error as Error).message);
      }
    }
  };
  return { attachments, add, addFiles, set };
}

/** What is attached, and a place to add to it. */
export function AttachmentBar(props: { attaching: Attaching; close: () => void; open: boolean }) {
  const { attachments, add, addFiles, set } = props.attaching;
  const [typed, setTyped] = useState("");
  const take = () => {
    add(readTyped(typed));
    setTyped("");
  };
  return (
    <>
      {attachments.length > 0 && (
        <ul class="attachments" aria-label="Attached">
          {attachments.map((one, index) => (
            <li key={index} class="tag">
              {one.kind === "image" ? "picture " : ""}
              {oneLine(one.name, 60)}{" "}
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${oneLine(one.name, 60)}`}
                onClick={() => set(attachments.filter((other) => other !== one))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {props.open && (
        <div class="attach-row" role="group" aria-label="Attach">
          <input
            value={typed}
            aria-label="Path or address"
            placeholder="Path in the session's directory, or address"
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") props.close();
              if (event.key !== "Enter") return;
              event.preventDefault();
              take();
            }}
          />
          <button type="button" disabled={typed.trim() === ""} onClick={take}>
            Attach
          </button>
          <input
            type="file"
            multiple
            aria-label="Files of this computer"
            onChange={({ currentTarget: field }) => {
              void addFiles([...(field.files ?? [])]); // the list itself is empty in a moment
              field.value = "";
            }}
          />
        </div>
      )}
    </>
  );
}
