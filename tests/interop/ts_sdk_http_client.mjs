// A client built on the official TypeScript SDK. It holds a conversation over Streamable HTTP with the agent at the URL
// of its first argument, with the token of its second, loads the session again over another connection, and prints what
// came of it as one JSON document.

import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
import { createHttpStream } from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/http-stream.js";

const [url, token] = process.argv.slice(2);
const { initialize, session } = acp.methods.agent;
const heard = [];
let waiting;
const app = acp
  .client({ name: "typescript-sdk-client" })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate.endsWith("_message_chunk")) heard.push(update.content.text);
    if (update.content?.text === "Waiting.") waiting();
  })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  });

const connected = (converse) =>
  app.connectWith(createHttpStream(url, { headers: { Authorization: `Bearer ${token}` } }), async (agent) => {
    const agreed = await agent.request(initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    return { name: agreed.agentInfo.name, ...(await converse(agent)) };
  });
const prompt = (agent, sessionId, text) => agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });

const first = await connected(async (agent) => {
  const { sessionId } = await agent.request(session.new, { cwd: "/project", mcpServers: [] });
  const stops = [];
  for (const text of ["Hello", "ask"]) stops.push((await prompt(agent, sessionId, text)).stopReason);
  const begun = new Promise((resolve) => (waiting = resolve));
  const cancelled = prompt(agent, sessionId, "wait");
  await begun;
  await agent.notify(session.cancel, { sessionId });
  stops.push((await cancelled).stopReason);
  return { sessionId, stops };
});
const live = heard.splice(0);
await connected(async (agent) => {
  await agent.request(session.load, { sessionId: first.sessionId, cwd: "/project", mcpServers: [] });
  await prompt(agent, first.sessionId, "Again");
});
console.log(JSON.stringify({ ...first, live, loaded: heard }));
process.exit(0);
