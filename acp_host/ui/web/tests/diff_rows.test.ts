import assert from "node:assert/strict";
import { test } from "node:test";
import { diffRows, MOST_COMPARED, sideBySide } from "../src/diff_rows";

test("rows carry the numbers of their lines, and long stretches that stayed are left out", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const rows = diffRows(lines.join("\n"), lines.with(9, "changed").join("\n"))!;
  assert.deepEqual(rows[0], { kind: "gap", before: null, after: null, text: "" });
  assert.deepEqual(rows.filter((row) => row.kind === "removed"), [{ kind: "removed", before: 10, after: null, text: "line 10" }]);
  assert.deepEqual(rows.filter((row) => row.kind === "added"), [{ kind: "added", before: null, after: 10, text: "changed" }]);
  assert.equal(rows.filter((row) => row.kind === "same").length, 6);
});

test("a removed line stands beside the one that took its place", () => {
  const pairs = sideBySide(diffRows("a\nb\nc\n", "a\nB\nC\nd\n")!);
  assert.deepEqual(pairs.map((pair) => [pair.left?.text, pair.right?.text]), [["a", "a"], ["b", "B"], ["c", "C"], [undefined, "d"]]);
});

test("texts that would take long to compare are not compared", () => {
  assert.equal(diffRows("x".repeat(MOST_COMPARED), "y"), null);
});

test("however much has changed, it takes no long", () => {
  const lines = (factor: number) => Array.from({ length: 60_000 }, (_, index) => ((index * factor) % 97).toString(36));
  const [before, after] = [lines(7_919), lines(10_473)];
  const began = performance.now();
  const rows = diffRows(before.join("\n"), after.join("\n"))!;
  assert.ok(performance.now() - began < 2_000);
  assert.equal(rows.length, 120_000);
  assert.deepEqual(rows[0], { kind: "removed", before: 1, after: null, text: before[0] });
  assert.deepEqual(rows.at(-1), { kind: "added", before: null, after: 60_000, text: after.at(-1) });
});
