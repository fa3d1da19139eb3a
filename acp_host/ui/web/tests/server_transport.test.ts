import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ServerTransport } from "../src/server_transport";

/** A server with these agents, and the sockets to it. */
function server(context: TestContext, ...running: { id: string; agent: string; status: string }[]) {
  const sockets: Socket[] = [];
  class Socket {
    onopen = () => {};
    onclose = () => {};
    constructor(readonly url: string) {
      sockets.push(this);
    }
    send(): void {}
    close(): void {}
  }
  const config = JSON.stringify({ baseUrl: "/user/a/" });
  const document = { getElementById: () => ({ textContent: config }) };
  const fetch = async () => new Response(JSON.stringify({ running }));
  const location = { href: "https://server.example/user/a/lab" };
  const put = { document, fetch, location, WebSocket: Socket, window: globalThis };
  const before = Object.keys(put).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(put)) Object.defineProperty(globalThis, name, { value, configurable: true });
  context.after(() => {
    for (const [name, found] of before) {
      if (found === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, found);
    }
  });
  context.mock.timers.enable({ apis: ["setTimeout"] });
  return { running, sockets };
}

/** Lets what was answered be read. */
const soon = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((done) => setImmediate(done));
};

test("an agent that was stopped and started again is found at its new address", async (context) => {
  const { running, sockets } = server(context, { id: "1", agent: "one", status: "running" });
  const said: string[] = [];
  const states: string[] = [];
  const transport = new ServerTransport("one", (words) => said.push(words));
  transport.open(() => {}, (state) => states.push(state));
  await soon();
  sockets[0]!.onopen();
  running.splice(0);
  sockets[0]!.onclose();
  context.mock.timers.tick(60_000);
  await soon();
  assert.match(said.at(-1)!, /No agent one runs/);
  running.push({ id: "2", agent: "one", status: "running" });
  context.mock.timers.tick(60_000);
  await soon();
  sockets[1]!.onopen();
  assert.deepEqual(sockets.map(({ url }) => url), [1, 2].map((id) => `wss://server.example/user/a/acp/agents/${id}/feed`));
  assert.deepEqual([states, said.at(-1)], [["open", "lost", "open"], ""]);
  transport.close();
  sockets[1]!.onclose();
  context.mock.timers.tick(60_000);
  await soon();
  assert.equal(sockets.length, 2);
});

test("one that runs is shown before one that has ended", async (context) => {
  const ended = { id: "1", agent: "one", status: "ended" };
  const { sockets } = server(context, ended, { id: "2", agent: "one", status: "running" });
  new ServerTransport("one", () => {}).open(() => {}, () => {});
  await soon();
  assert.match(sockets[0]!.url, /agents\/2\//);
});
