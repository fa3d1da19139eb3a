import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command, Connected, FromHost, SessionName, Transport } from "../src/feed";
import type { SessionState } from "../src/state";
import { Store } from "../src/store";

/** The other end, as far as the view reaches it. */
class Wire implements Transport {
  readonly sent: Command[] = [];
  tell: (message: FromHost) => void = () => {};
  connected: (state: Connected) => void = () => {};

  open(tell: (message: FromHost) => void, connected: (state: Connected) => void): void {
    this.tell = tell;
    this.connected = connected;
  }
  send(command: Command): void {
    this.sent.push(command);
  }
  close(): void {}

  greet(resume: string, ...ids: string[]): void {
    this.connected("open");
    const agent = { name: "an agent" };
    this.tell({ type: "hello", feed: 1, agent, viewer: 1, mayControl: true, sessions: listed(...ids), resume });
  }
  snapshot(session: string, version: number): void {
    const state = { sessionId: session, transcript: { first: 0, entries: [] } } as unknown as SessionState;
    this.tell({ type: "snapshot", session, version, state });
  }
  /** The commands since this was called last, as their names, sessions and versions. */
  asked(): unknown[] {
    return this.sent.splice(0).map(({ command, session, version }) => [command, session, version]);
  }
}

function listed(...ids: string[]): SessionName[] {
  return ids.map((id) => ({ id, title: null, parent: null }));
}

function begun(...ids: string[]): { store: Store; wire: Wire } {
  const wire = new Wire();
  const store = new Store(wire);
  store.watch(() => {});
  wire.greet("token", ...ids);
  return { store, wire };
}

test("the session that is shown is asked for once", () => {
  const { store, wire } = begun("a", "b");
  assert.deepEqual(wire.asked(), [["resume", "a", null]]);
  wire.snapshot("a", 5);
  store.show("b");
  assert.deepEqual(wire.asked(), [["leave", "a", undefined], ["resume", "b", null]]);
});

test("after a lost connection it goes on from the version that is here, unless the feed is another one", () => {
  const { store, wire } = begun("a", "b");
  wire.snapshot("a", 5);
  store.show("b");
  wire.snapshot("b", 7);
  wire.asked();
  wire.connected("lost");
  wire.greet("token", "a", "b");
  assert.deepEqual(wire.asked(), [["resume", "b", 7]]);
  wire.connected("lost");
  wire.greet("another token", "a", "b");
  store.show("a");
  assert.deepEqual(wire.asked(), [["resume", "b", null], ["leave", "b", undefined], ["resume", "a", null]]);
});

test("diagnostics that are told once more are not there twice", () => {
  const { store, wire } = begun("a");
  const diagnostic = { number: 1, kind: "noise", message: "?", method: null, path: null, sessionId: null, data: null, count: 1 };
  for (let time = 0; time < 2; time++) {
    wire.tell({ type: "diagnostics", items: [diagnostic] });
    assert.equal(store.view.diagnostics.length, 1);
    wire.connected("lost");
    wire.greet("token", "a");
  }
});

test("of a session that is gone nothing is kept", () => {
  const { store, wire } = begun("a", "b");
  wire.snapshot("a", 5);
  store.show("b");
  wire.tell({ type: "sessions", items: listed("b") });
  wire.tell({ type: "sessions", items: listed("b", "a") });
  wire.asked();
  store.show("a");
  assert.deepEqual(wire.asked(), [["leave", "b", undefined], ["resume", "a", null]]);
});

test("a delta that does not fit is answered with a request for all, if it is of the session that is shown", () => {
  const { store, wire } = begun("a", "b");
  wire.snapshot("a", 5);
  wire.asked();
  wire.tell({ type: "delta", session: "a", from: 4, version: 6, ops: [] });
  assert.deepEqual(wire.asked(), [["resume", "a", null]]);
  wire.snapshot("a", 6);
  store.show("b");
  wire.asked();
  wire.tell({ type: "delta", session: "a", from: 4, version: 7, ops: [] });
  assert.deepEqual(wire.asked(), []);
});
