import assert from "node:assert/strict";
import { test } from "node:test";
import { onceEach } from "../src/warm_up";

test("however many views come at once, each thing is done once", async () => {
  const done: string[] = [];
  const begin = onceEach([() => void done.push("a"), () => void done.push("b")]);
  begin();
  begin();
  for (let task = 0; task < 5; task += 1) await new Promise((next) => setTimeout(next, 2));
  begin();
  await new Promise((next) => setTimeout(next, 2));
  assert.deepEqual(done, ["a", "b"]);
});
