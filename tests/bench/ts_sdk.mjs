// The official TypeScript SDK as a host, with a handler that only counts. Prints the time from prompt to response.
// node ts_sdk.mjs COUNT PYTHON

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

const [count, python] = process.argv.slice(2);
const program = fileURLToPath(new URL("stream_agent.py", import.meta.url));
const agent = spawn(python, [program, count], { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

let updates = 0;
let allHere;
const complete = new Promise((resolve) => {
  allHere = resolve;
});

const seconds = await acp
  .client({ name: "bench" })
  .onNotification(acp.methods.client.session.update, () => {
    updates += 1;
    if (updates === Number(count)) allHere();
  })
  .connectWith(stream, async (context) => {
    await context.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
    const session = await context.request(acp.methods.agent.session.new, { cwd: "/", mcpServers: [] });
    const started = performance.now();
    const prompt = [{ type: "text", text: "go" }];
    await context.request(acp.methods.agent.session.prompt, { sessionId: session.sessionId, prompt });
    await complete;
    return (performance.now() - started) / 1000;
  });

console.log(JSON.stringify({ updates, seconds }));
agent.kill();
