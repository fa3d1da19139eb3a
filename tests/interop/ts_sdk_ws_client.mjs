// A client built on the official TypeScript SDK: it connects to the reference agent over WebSocket, holds a whole
// conversation with it, reconnects with the cookies and loads the session again, and prints what came of it as JSON.

import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
import {
  createWebSocketStream,
  MemoryAcpCookieStore,
} from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/ws-stream.js";
import { WebSocket } from "../npm/node_modules/ws/wrapper.mjs";

const [, , url, token] = process.argv;
const cookieStore = new MemoryAcpCookieStore();
const open = () => createWebSocketStream(url, { WebSocket, cookieStore, headers: { Authorization: `Bearer ${token}` } });

const asked = [];
const client = () =>
  acp.client({ name: "typescript-sdk-client" }).onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    asked.push(params.toolCall.title);
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  });
const initialize = (agent) =>
  agent.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
const untilStop = async (active) => {
  const updates = [];
  for (;;) {
    const message = await active.nextUpdate();
    if (message.kind === "stop") return { updates, stopReason: message.response.stopReason };
    updates.push(message.notification.update.sessionUpdate);
  }
};

const told = await client().connectWith(open(), async (agent) => {
  const agreed = await initialize(agent);
  const active = await agent.buildSession("/project").start();
  const [shown] = await Promise.all([untilStop(active), active.prompt("Show me")]);
  return { agreed, sessionId: active.sessionId, shown };
});
const load = { sessionId: told.sessionId, cwd: "/project", mcpServers: [] };
const again = await client().connectWith(open(), async (agent) => {
  await initialize(agent);
  return agent.request(acp.methods.agent.session.load, load);
});
console.log(JSON.stringify({ ...told, again, asked }));
process.exit(0);
