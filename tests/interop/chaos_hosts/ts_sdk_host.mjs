// A host of the simplest kind, made with the official TypeScript SDK: `node ts_sdk_host.mjs AGENT…`.
// It connects, opens a session, sends one prompt and prints the agent's text; permissions are refused.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "../../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const app = acp
  .client({ name: "simple-host" })
  .onRequest(acp.methods.client.session.requestPermission, () => ({ outcome: { outcome: "cancelled" } }));

const talk = async (agent) => {
  const { initialize } = acp.methods.agent;
  await agent.request(initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  const active = await agent.buildSession(process.cwd()).start();
  const prompt = active.prompt("hi");
  for (;;) {
    const message = await Promise.race([active.nextUpdate(), prompt.then(() => active.nextUpdate())]);
    if (message.kind === "stop") return message.response.stopReason;
    const { update } = message.notification;
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
      process.stdout.write(update.content.text);
    }
  }
};
try {
  process.exitCode = (await app.connectWith(stream, talk)) === "end_turn" ? 0 : 3;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
child.stdin.end();
child.kill();
