/** A change of a file, in one column or in two. */
import { useMemo } from "preact/hooks";
import { type DiffRow, diffRows, sideBySide } from "../diff_rows";
import { colouredPieces, languageOf } from "../highlight";
import { oneLine, printable } from "../plain_text";
import { memo, useKept } from "./context";
import { useFirst } from "./parts";

const MOST_ROWS = 200;
/** Characters of a line that is shown in colours: there can be many, and finding them takes time. */
const LONGEST_COLOURED = 500;
const SIGNS = { same: " ", removed: "−", added: "+", gap: " " };

export const DiffView = memo(function DiffView(props: { path: string; oldText: string | null; newText: string; name: string }) {
  const rows = useMemo(() => diffRows(props.oldText ?? "", props.newText), [props.oldText, props.newText]);
  const [columns, setColumns] = useKept("diff columns", false);
  const [shown, more] = useFirst(rows ?? [], MOST_ROWS, `rows ${props.name}`, "lines");
  const path = oneLine(props.path);
  if (rows === null) return <p class="note">{path}: too much has changed to compare it here.</p>;
  return (
    <figure class="diff" aria-label={`Changes of ${path}`}>
      <figcaption>
        <code>{path}</code> <span class="added-count">+{count(rows, "added")}</span>{" "}
        <span class="removed-count">−{count(rows, "removed")}</span>
        {props.oldText === null && <span class="badge">new file</span>}
        <button type="button" class="quiet" aria-pressed={columns} onClick={() => setColumns(!columns)}>
          Side by side
        </button>
      </figcaption>
      <div class="diff-scroll" tabIndex={0} role="group" aria-label={`Lines of ${path}`}>
        {columns ? <TwoColumns rows={shown} path={props.path} /> : <OneColumn rows={shown} path={props.path} />}
      </div>
      {more}
    </figure>
  );
});

function count(rows: readonly DiffRow[], kind: DiffRow["kind"]): number {
  return rows.filter((row) => row.kind === kind).length;
}

function OneColumn(props: { rows: readonly DiffRow[]; path: string }) {
  return (
    <table>
      <tbody>
        {props.rows.map((row, index) => (
          <tr key={index} class={row.kind}>
            <td class="line-number">{row.before}</td>
            <td class="line-number">{row.after}</td>
            <td class="sign">{SIGNS[row.kind]}</td>
            <Line row={row} path={props.path} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function TwoColumns(props: { rows: readonly DiffRow[]; path: string }) {
  return (
    <table class="two-columns">
      <tbody>
        {sideBySide(props.rows).map((pair, index) => (
          <tr key={index}>
            <Half row={pair.left} number={pair.left?.before ?? null} path={props.path} />
            <Half row={pair.right} number={pair.right?.after ?? null} path={props.path} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Half(props: { row: DiffRow | null; number: number | null; path: string }) {
  const kind = props.row?.kind ?? "nothing";
  return (
    <>
      <td class={`line-number ${kind}`}>{props.number}</td>
      <td class={`sign ${kind}`}>{props.row ? SIGNS[props.row.kind] : ""}</td>
      {props.row ? <Line row={props.row} path={props.path} class={kind} /> : <td class="nothing" />}
    </>
  );
}

const Line = memo(function Line(props: { row: DiffRow; path: string; class?: string }) {
  if (props.row.kind === "gap") return <td>⋯</td>;
  const text = printable(props.row.text);
  const language = text.length > LONGEST_COLOURED ? "" : languageOf(props.path);
  return (
    <td class={props.class}>
      {colouredPieces(text, language).map((piece, index) =>
        piece.classes === "" ? (
          piece.text
        ) : (
          <span key={index} class={piece.classes}>
            {piece.text}
          </span>
        ),
      )}
    </td>
  );
});

/** A patch that the agent wrote, line by line. */
export function PatchView(props: { patch: string; label: string; name: string }) {
  const lines = useMemo(() => props.patch.split("\n"), [props.patch]);
  const [shown, more] = useFirst(lines, MOST_ROWS, `lines ${props.name}`, "lines");
  return (
    <figure class="diff" aria-label={`Changes: ${oneLine(props.label)}`}>
      <figcaption>
        <code>{oneLine(props.label)}</code>
      </figcaption>
      <pre class="patch" tabIndex={0}>
        {shown.map((line, index) => (
          <span key={index} class={kindOf(line)}>
            {printable(line)}
            {"\n"}
          </span>
        ))}
      </pre>
      {more}
    </figure>
  );
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|diff |index |@@)/.test(line)) return "gap";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}
