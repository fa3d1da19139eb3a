// An agent built on the official TypeScript SDK, served over Streamable HTTP and WebSocket; prints its port.
//
// `ask` as a prompt asks permission and says what was answered; `wait` waits until it is cancelled; any other prompt is
// repeated, word by word. A session that is loaded tells what was said in it. The flag `h2` serves HTTP/2 over TLS.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
import { AcpServer } from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/server.js";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/node-adapter.js";
import { WebSocketServer } from "../npm/node_modules/ws/wrapper.mjs";

const [, , flag, certificate] = process.argv;
const { initialize, session } = acp.methods.agent;
const { update, requestPermission } = acp.methods.client.session;
const said = new Map();
let sessions = 0;

function createAgent() {
  const cancelled = new Map();
  const say = (client, sessionId, text, sessionUpdate = "agent_message_chunk") =>
    client.notify(update, { sessionId, update: { sessionUpdate, content: { type: "text", text } } });
  return acp
    .agent({ name: "typescript-sdk-agent" })
    .onRequest(initialize, () => ({
      protocolVersion: acp.PROTOCOL_VERSION,
      agentCapabilities: { loadSession: true },
      agentInfo: { name: "typescript-sdk-agent", version: "1" },
    }))
    .onRequest(session.new, () => {
      const sessionId = `session-${++sessions}`;
      said.set(sessionId, []);
      return { sessionId };
    })
    .onRequest(session.load, async ({ params, client }) => {
      for (const text of said.get(params.sessionId)) await say(client, params.sessionId, text);
      return {};
    })
    .onNotification(session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
    .onRequest(session.prompt, async ({ params, client }) => {
      const { sessionId } = params;
      const [{ text }] = params.prompt;
      if (text === "wait") {
        const end = new Promise((resolve) => cancelled.set(sessionId, resolve));
        await say(client, sessionId, "Waiting.");
        await end;
        return { stopReason: "cancelled" };
      }
      if (text === "ask") {
        const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
        const toolCall = { toolCallId: "call-1", title: "Something" };
        const answer = await client.request(requestPermission, { sessionId, toolCall, options });
        await say(client, sessionId, JSON.stringify(answer.outcome));
        return { stopReason: "end_turn" };
      }
      for (const word of text.split(/(?<= )/)) await say(client, sessionId, word);
      said.get(sessionId).push(text);
      return { stopReason: "end_turn" };
    });
}

const acpServer = new AcpServer({ createAgent });
const handleHttp1 = createNodeHttpHandler(acpServer);
// The SDK takes requests as those of HTTP/1.1 are, so those of HTTP/2 are given their form.
const handler = (request, response) => {
  if (request.httpVersionMajor === 2) {
    const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
    Object.defineProperty(request, "headers", { value: { ...Object.fromEntries(headers), host: request.authority } });
  }
  handleHttp1(request, response);
};
const server =
  flag === "h2"
    ? createSecureServer({ key: readFileSync(`${certificate}/key.pem`), cert: readFileSync(`${certificate}/cert.pem`) }, handler)
    : createServer(handler);
server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
