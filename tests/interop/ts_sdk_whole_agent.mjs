// An agent built on the official TypeScript SDK that has a handler for every method of an agent that the SDK knows in
// version 1, drafts included, and calls every method of a host.
//
// With the argument `methods` it prints which those are, as JSON, by edition of the SDK. Else it is an agent: the prompt
// `everything` calls all that a host can do and says what came of it; `wait` waits for its cancellation; any other
// prompt tells the notifications that have come in.

import { Readable, Writable } from "node:stream";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/nes/acp.js";

const SDK = "../npm/node_modules/@agentclientprotocol/sdk/dist";
const EDITIONS = { 1: ["v1/stable", "v1/unstable", "nes"], 2: ["v2/stable", "v2/unstable"] };

async function methods() {
  const known = {};
  for (const [version, editions] of Object.entries(EDITIONS)) {
    const sides = { agent: new Set(), host: new Set(), both: new Set() };
    for (const edition of editions) {
      const sdk = await import(`${SDK}/${edition}/acp.js`);
      const tables = { agent: sdk.AGENT_METHODS, host: sdk.CLIENT_METHODS, both: sdk.PROTOCOL_METHODS };
      for (const [side, table] of Object.entries(tables)) Object.values(table).forEach((name) => sides[side].add(name));
    }
    known[version] = Object.fromEntries(Object.entries(sides).map(([side, names]) => [side, [...names].sort()]));
  }
  return known;
}

const { agent, client: host } = acp.methods;
const told = [];
const waiting = new Map();
let sessions = 0;
let provider = null;
const opened = () => ({ sessionId: `session-${++sessions}`, modes, configOptions: options });
const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] };
const options = [
  {
    ...{ type: "select", id: "model", name: "Model", category: "model", currentValue: "small" },
    options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }],
  },
];
const capabilities = {
  loadSession: true,
  mcpCapabilities: { acp: true },
  auth: { status: {}, logout: {} },
  providers: {},
  sessionCapabilities: {
    ...{ list: {}, delete: {}, fork: {}, resume: {}, close: {} },
    ...{ archive: {}, status: {}, title: {} },
  },
};

async function everything(sessionId, cwd, serverId, client) {
  const said = [];
  const ask = (method, params, options) => client.request(method, { sessionId, ...params }, options);
  const path = `${cwd}/whole.txt`;
  await ask(host.fs.writeTextFile, { path, content: "written by the agent\n" });
  said.push((await ask(host.fs.readTextFile, { path })).content);
  const toolCall = { toolCallId: "c", title: "Go on", kind: "think" };
  const choices = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
  said.push((await ask(host.session.requestPermission, { toolCall, options: choices })).outcome.optionId);
  const { terminalId } = await ask(host.terminal.create, { command: "echo here; exec sleep 600" });
  let output = "";
  while (!output.includes("here")) ({ output } = await ask(host.terminal.output, { terminalId }));
  await ask(host.terminal.kill, { terminalId });
  said.push((await ask(host.terminal.waitForExit, { terminalId })).signal);
  await ask(host.terminal.release, { terminalId });
  const requestedSchema = { type: "object", properties: { name: { type: "string", title: "Name" } } };
  const form = { mode: "form", message: "Who?", requestedSchema };
  said.push((await ask(host.elicitation.create, form)).content.name);
  const page = { mode: "url", message: "Look", url: "https://example.org/", elicitationId: "e" };
  said.push((await ask(host.elicitation.create, page)).action);
  await client.notify(host.elicitation.complete, { elicitationId: "e" });
  await client.notify(host.auth.statusUpdate, { state: "authenticated" });
  said.push((await client.request(host.mcp.message, { serverId, requestId: "r", method: "greet" })).result.hello);
  const slow = { toolCall: { ...toolCall, title: "Wait" }, options: choices };
  await ask(host.session.requestPermission, slow, { cancellationSignal: AbortSignal.timeout(50) }).catch(({ code }) => said.push(code));
  return said;
}

const cwds = new Map();
const servers = new Map();
const whole = acp
  .agent({ name: "typescript-sdk-whole-agent" })
  .onRequest(agent.initialize, () => ({
    ...{ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: capabilities },
    agentInfo: { name: "typescript-sdk-whole-agent", version: "1" },
    authMethods: [{ id: "login", name: "Log in" }],
  }))
  .onRequest(agent.authenticate, () => ({}))
  .onRequest(agent.logout, () => ({}))
  .onRequest(agent.auth.status, () => ({ state: "authenticated" }))
  .onRequest(agent.providers.list, () => ({
    providers: [{ providerId: "p", supported: ["openai"], required: false, current: provider }],
  }))
  .onRequest(agent.providers.set, ({ params }) => {
    provider = { apiType: params.apiType, baseUrl: params.baseUrl };
    return {};
  })
  .onRequest(agent.providers.disable, () => {
    provider = null;
    return {};
  })
  .onRequest(agent.session.new, ({ params }) => {
    const session = opened();
    cwds.set(session.sessionId, params.cwd);
    servers.set(session.sessionId, params.mcpServers.find(({ type }) => type === "acp")?.serverId);
    return session;
  })
  .onRequest(agent.session.load, () => ({ modes, configOptions: options }))
  .onRequest(agent.session.resume, () => ({ modes, configOptions: options }))
  .onRequest(agent.session.fork, () => opened())
  .onRequest(agent.session.list, () => ({ sessions: [...cwds].map(([sessionId, cwd]) => ({ sessionId, cwd })) }))
  .onRequest(agent.session.delete, () => ({}))
  .onRequest(agent.session.archive, () => ({}))
  .onRequest(agent.session.unarchive, () => ({}))
  .onRequest(agent.session.close, () => ({}))
  .onRequest(agent.session.status, () => ({ status: "open" }))
  .onRequest(agent.session.setTitle, ({ params }) => ({ title: params.title }))
  .onRequest(agent.session.setMode, () => ({}))
  .onRequest(agent.session.setConfigOption, ({ params }) => ({
    configOptions: [{ ...options[0], currentValue: params.value }],
  }))
  .onRequest(agent.session.prompt, async ({ params, client }) => {
    const [{ text }] = params.prompt;
    const { sessionId } = params;
    const say = (words) =>
      client.notify(host.session.update, {
        ...{ sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } } },
      });
    if (text === "wait") {
      await say("Waiting.");
      await new Promise((resolve) => waiting.set(sessionId, resolve));
      return { stopReason: "cancelled" };
    }
    const words = text === "everything" ? everything(sessionId, cwds.get(sessionId), servers.get(sessionId), client) : told;
    await say(JSON.stringify(await words));
    return { stopReason: "end_turn" };
  })
  .onNotification(agent.session.cancel, ({ params }) => waiting.get(params.sessionId)?.())
  .onRequest("_slow", (params) => params, ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(acp.RequestError.requestCancelled())))
  )
  .onRequest(agent.nes.start, () => ({ sessionId: "nes" }))
  .onRequest(agent.nes.suggest, () => ({ suggestions: [] }))
  .onRequest(agent.nes.close, () => ({}));
for (const name of [...Object.values(agent.document), agent.nes.accept, agent.nes.reject, agent.mcp.message])
  whole.onNotification(name, () => void told.push(name));

if (process.argv.includes("methods")) console.log(JSON.stringify(await methods()));
else whole.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
