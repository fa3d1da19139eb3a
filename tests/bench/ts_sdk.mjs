// The official TypeScript SDK as a host, with a handler that only counts. Prints the time that all turns took.
// node ts_sdk.mjs TURNS LENGTH PYTHON

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

const [turns, length, python] = process.argv.slice(2);
const program = fileURLToPath(new URL("stream_agent.py", import.meta.url));
const agent = spawn(python, [program, turns, length], { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const expected = Number(turns) * Number(length);
let updates = 0;
let allHere;
const complete = new Promise((resolve) => {
  allHere = resolve;
});

const [seconds, cpu] = await acp
  .client({ name: "bench" })
  .onNotification(acp.methods.client.session.update, () => {
    updates += 1;
    if (updates === expected) allHere();
  })
  .connectWith(stream, async (context) => {
    await context.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
    const session = await context.request(acp.methods.agent.session.new, { cwd: "/", mcpServers: [] });
    const started = performance.now();
    const processor = process.cpuUsage();
    const prompt = [{ type: "text", text: "go" }];
    for (let turn = 0; turn < Number(turns); turn += 1) {
      await context.request(acp.methods.agent.session.prompt, { sessionId: session.sessionId, prompt });
    }
    await complete;
    const { user, system } = process.cpuUsage(processor);
    return [(performance.now() - started) / 1000, (user + system) / 1e6];
  });

console.log(JSON.stringify({ updates, seconds, cpu }));
agent.kill();
