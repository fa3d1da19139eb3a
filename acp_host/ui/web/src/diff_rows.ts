/** Two texts as rows to draw: what stayed, what went, what came. Long stretches that stayed are left out. */
import { structuredPatch } from "diff";

export interface DiffRow {
  kind: "same" | "removed" | "added" | "gap";
  /** Number of the line in the old text and in the new one, from 1. */
  before: number | null;
  after: number | null;
  text: string;
}

/** Beyond this many characters no comparison is made: it could take long. */
export const MOST_COMPARED = 400_000;
const CONTEXT = 3;
/** Lines that went and came in all. What it takes to find them grows with the square of it. */
const MOST_EDITS = 500;

/** Returns the rows; `null` if the texts are too long. Where they are too different to compare, all went and all came. */
export function diffRows(oldText: string, newText: string): DiffRow[] | null {
  if (oldText.length + newText.length > MOST_COMPARED) return null;
  const options = { context: CONTEXT, maxEditLength: MOST_EDITS };
  const patch = structuredPatch("", "", oldText, newText, "", "", options);
  if (patch === undefined) return [...hunkRows(lines("-", oldText), 1, 1), ...hunkRows(lines("+", newText), 1, 1)];
  const rows: DiffRow[] = [];
  for (const hunk of patch.hunks) {
    if (rows.length > 0 || hunk.oldStart > 1) rows.push({ kind: "gap", before: null, after: null, text: "" });
    rows.push(...hunkRows(hunk.lines, hunk.oldStart, hunk.newStart));
  }
  return rows;
}

function lines(sign: string, text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => sign + line);
}

function hunkRows(lines: readonly string[], before: number, after: number): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith("-")) rows.push({ kind: "removed", before: before++, after: null, text });
    else if (line.startsWith("+")) rows.push({ kind: "added", before: null, after: after++, text });
    else if (line.startsWith(" ")) rows.push({ kind: "same", before: before++, after: after++, text });
  }
  return rows;
}

/** A row of two columns. */
export interface Pair {
  left: DiffRow | null;
  right: DiffRow | null;
}

/** Puts removed lines beside the added ones that took their place. */
export function sideBySide(rows: readonly DiffRow[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffRow[] = [];
  let added: DiffRow[] = [];
  const settle = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      pairs.push({ left: removed[index] ?? null, right: added[index] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "removed") removed.push(row);
    else if (row.kind === "added") added.push(row);
    else {
      settle();
      pairs.push({ left: row, right: row });
    }
  }
  settle();
  return pairs;
}
