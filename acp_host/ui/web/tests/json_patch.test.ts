import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch, type Json, PatchError } from "../src/json_patch";

test("each operation does what RFC 6902 says", () => {
  const before = { list: [1, 2, 3], object: { "a/b": 1, "~": 2 } };
  const after = applyPatch(before, [
    { op: "add", path: "/list/1", value: "new" },
    { op: "add", path: "/list/-", value: "last" },
    { op: "remove", path: "/list/0" },
    { op: "replace", path: "/object/a~1b", value: null },
    { op: "remove", path: "/object/~0" },
  ]);
  assert.deepEqual(after, { list: ["new", 2, 3, "last"], object: { "a/b": null } });
  assert.deepEqual(before, { list: [1, 2, 3], object: { "a/b": 1, "~": 2 } });
});

test("what is not touched is the same object afterwards", () => {
  const before = { entries: [{ text: ["a"] }, { text: ["b"] }], rest: {} };
  const after = applyPatch(before, [{ op: "replace", path: "/entries/1/text/0", value: "bc" }]) as typeof before;
  assert.equal(after.entries[0], before.entries[0]);
  assert.equal(after.rest, before.rest);
  assert.notEqual(after.entries[1], before.entries[1]);
});

test("operations that do not fit are an error, and change nothing", () => {
  const before: Json = { list: [1], object: {} };
  const wrong = [
    { op: "replace", path: "/list/1", value: 0 },
    { op: "add", path: "/list/3", value: 0 },
    { op: "add", path: "/list/01", value: 0 },
    { op: "remove", path: "/object/none" },
    { op: "replace", path: "/object/toString/x", value: 0 },
    { op: "add", path: "/list/0/x", value: 0 },
    { op: "move", path: "/list/0" },
    { op: "add", path: "list", value: 0 },
  ];
  for (const operation of wrong) {
    const first = { op: "add", path: "/object/new", value: 2 };
    assert.throws(() => applyPatch(before, [first, operation]), PatchError, operation.path);
  }
  assert.deepEqual(before, { list: [1], object: {} });
});

test("a name such as __proto__ is a member like any other", () => {
  const after = applyPatch({ terminals: {} }, [
    { op: "add", path: "/terminals/__proto__", value: { output: ["a"] } },
    { op: "add", path: "/terminals/__proto__/output/-", value: "b" },
  ]) as { terminals: object };
  assert.deepEqual(Object.getOwnPropertyNames(after.terminals), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(after.terminals), Object.prototype);
  assert.equal(JSON.stringify(after), '{"terminals":{"__proto__":{"output":["a","b"]}}}');
});

test("operations that lead into what was left out are passed over", () => {
  const after = applyPatch({ entries: [null, { status: "a" }] }, [
    { op: "replace", path: "/entries/0/status", value: "b" },
    { op: "add", path: "/entries/0/content/-", value: "b" },
    { op: "replace", path: "/entries/1/status", value: "b" },
  ]);
  assert.deepEqual(after, { entries: [null, { status: "b" }] });
});
