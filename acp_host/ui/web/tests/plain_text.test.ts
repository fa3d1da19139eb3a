import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine, printable, terminalText } from "../src/plain_text";

test("what could hide or reorder text is spelled out", () => {
  assert.equal(printable("a\u202eb\x1b[0m\u0085\ud800c😀\n\t"), "a\\u202eb\\x1b[0m\\x85\\ud800c😀\n\t");
});

test("a title is one line of bounded length", () => {
  assert.equal(oneLine("  a \n b\u2028c"), "a b c");
  assert.equal(oneLine("x".repeat(500), 10), `${"x".repeat(9)}…`);
});

test("what steers a terminal is left out of what a command printed", () => {
  assert.equal(terminalText("\x1b[1;31mred\x1b[0m \x1b]0;title\x07and\x1b]8;;http://e\x1b\\link\x1b(B"), "red andlink");
  assert.equal(terminalText("\x9b2Jx\x90q\x9cy"), "xy");
  assert.equal(terminalText("10 %\r50 %\r100 %\r\ndone\r"), "100 %\ndone");
  assert.equal(terminalText("ab\bc\x07"), "ac\\x07");
  assert.equal(terminalText("a\x1b"), "a\\x1b");
});

test("however a command prints, reading it takes time in proportion", () => {
  const many = 60_000;
  const began = performance.now();
  assert.equal(terminalText("\x9d".repeat(many) + "\x1bA").length, 4 * many);
  assert.equal(terminalText(`a\x1b]${"x".repeat(many)}\x1bA`).length, many + 1);
  assert.equal(terminalText("a".repeat(many) + "\rxy".repeat(many)), "xy" + "a".repeat(many - 2));
  assert.ok(performance.now() - began < 2_000);
});
