// An agent built on the official TypeScript SDK's draft of ACP v2, which does all that the SDK knows.
//
// The first word of a prompt says what it does; any other prompt is repeated. With the argument `router` it is behind
// the SDK's router, beside an agent of v1 that repeats what the host offered at `initialize`, reads `notes.txt` by the
// host and puts a notice before the user; with `v1` that one is alone behind the router. With a second argument,
// `served`, it is there for Streamable HTTP and WebSocket, at the port that it prints.

import { createServer } from "node:http";
import { Readable, Writable } from "node:stream";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v2/unstable/acp.js";
import * as v1 from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/unstable/acp.js";
import { AcpServer } from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/server.js";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "../npm/node_modules/@agentclientprotocol/sdk/dist/transports/node-adapter.js";
import { WebSocketServer } from "../npm/node_modules/ws/wrapper.mjs";
import { McpOverAcpCaller } from "../npm/node_modules/@agentclientprotocol/sdk/dist/v2/unstable/mcp.js";

const info = { name: "typescript-sdk-v2-agent", version: "1" };
const mcp = new McpOverAcpCaller({ clientInfo: info });
const { session, auth, providers, terminal, toolCall } = acp.methods.agent;
const base64 = (text) => Buffer.from(text).toString("base64");
const text = (words) => ({ type: "text", text: words });

const capabilities = {
  session: {
    prompt: { image: {}, audio: {}, embeddedContext: {} },
    mcp: { stdio: {}, http: {}, acp: {} },
    ...{ delete: {}, additionalDirectories: {}, fork: {}, archive: {}, status: {}, title: {} },
    systemPrompt: { mode: { override: {} } },
  },
  auth: { status: {} },
  providers: {},
};
const sessions = new Map();
let count = 0;
let account = "authenticated";
let spare = null;
const settings = { model: "small", fast: false };

const options = () => [
  {
    ...{ type: "select", configId: "model", name: "Model", category: "model", currentValue: settings.model },
    options: [{ groupId: "all", name: "All", options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }] }],
  },
  { type: "boolean", configId: "fast", name: "Fast", currentValue: settings.fast },
];
const availableCommands = [
  { type: "command", name: "all", description: "Everything", input: { type: "text", hint: "nothing" } },
];
const opened = (params) => {
  const sessionId = `session-${++count}`;
  sessions.set(sessionId, { params, history: [], title: undefined, archived: false, state: { state: "idle" } });
  return { sessionId, configOptions: options(), availableCommands };
};
const known = (sessionId) => {
  const found = sessions.get(sessionId);
  if (!found) throw acp.RequestError.resourceNotFound(sessionId);
  return found;
};

// What one session can tell.
class Voice {
  constructor(sessionId, client) {
    Object.assign(this, { sessionId, client, of: known(sessionId) });
  }
  async tell(update, kept = true) {
    if (kept) this.of.history.push(update);
    await this.client.notify(acp.methods.client.session.update, { sessionId: this.sessionId, update });
  }
  async state(state, members = {}) {
    this.of.state = { state, ...members };
    await this.tell({ sessionUpdate: "state_update", state, ...members }, false);
  }
  async say(words) {
    const messageId = `message-${++count}`;
    for (const part of words.match(/[\s\S]{1,8}/g) ?? [])
      await this.tell({ sessionUpdate: "agent_message_chunk", messageId, content: text(part) });
  }
  permission(subject, title, options = {}) {
    const named = (optionId, kind) => ({ optionId, name: optionId, kind });
    const request = {
      ...{ sessionId: this.sessionId, title, description: "The SDK asks.", subject },
      options: [named("yes", "allow_once"), named("no", "reject_once"), named("maybe", "_perhaps")],
    };
    return this.client.request(acp.methods.client.session.requestPermission, request, options);
  }
}

const everything = [
  { sessionUpdate: "agent_thought", messageId: "t", content: [text("Think.")] },
  { sessionUpdate: "agent_message", messageId: "m", content: [text("One")] },
  { sessionUpdate: "agent_message_chunk", messageId: "m", content: text(" and two") },
  { sessionUpdate: "agent_message", messageId: "gone", content: [text("To be cleared")] },
  { sessionUpdate: "agent_message", messageId: "gone", content: null },
  { sessionUpdate: "tool_call_update", toolCallId: "c", title: "Edit", kind: "edit", status: "in_progress", name: "edit" },
  { sessionUpdate: "tool_call_content_chunk", toolCallId: "c", content: { type: "content", content: text("A chunk.") } },
  {
    ...{ sessionUpdate: "tool_call_content_chunk", toolCallId: "c" },
    content: {
      type: "diff",
      changes: [
        { operation: "modify", path: "/project/a.txt", fileType: "text" },
        { operation: "move", oldPath: "/project/b", path: "/project/c" },
        { operation: "_own", path: "/project/d" },
      ],
      patch: {
        format: "git_patch",
        text: "diff --git /project/a.txt /project/a.txt\n--- /project/a.txt\n+++ /project/a.txt\n@@ -1 +1 @@\n-old\n+new\n",
      },
    },
  },
  { sessionUpdate: "terminal_output_chunk", terminalId: "x", data: base64("early ") },
  { sessionUpdate: "tool_call_content_chunk", toolCallId: "c", content: { type: "terminal", terminalId: "x" } },
  { sessionUpdate: "terminal_update", terminalId: "x", command: "make", cwd: "/project", output: { data: base64("snapshot ") } },
  ...[...Buffer.from("✓ \u001b[1mbold\u001b[0m")].map((byte) => ({
    ...{ sessionUpdate: "terminal_output_chunk", terminalId: "x" },
    data: Buffer.from([byte]).toString("base64"),
  })),
  { sessionUpdate: "terminal_update", terminalId: "x", exitStatus: { exitCode: 3 } },
  { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", title: null, rawOutput: { ok: true } },
  {
    sessionUpdate: "plan_update",
    plan: { type: "items", planId: "p", entries: [{ content: "Do it", priority: "high", status: "cancelled" }] },
  },
  { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "q", content: "1. Do it" } },
  { sessionUpdate: "plan_removed", planId: "q" },
  { sessionUpdate: "notice", severity: "warning", title: "Mind the gap", description: "It is wide." },
  { sessionUpdate: "session_info_update", title: "Everything" },
  { sessionUpdate: "usage_update", used: 5, size: 100, cost: { amount: 0.5, currency: "USD" } },
  { sessionUpdate: "compaction_update", compactionId: "k", status: "in_progress" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "k", content: text("We talked.") },
  { sessionUpdate: "compaction_update", compactionId: "k", status: "completed" },
  { sessionUpdate: "available_commands_update", availableCommands },
  { sessionUpdate: "config_option_update", configOptions: options() },
  { sessionUpdate: "_own_update", of: "the agent's" },
];

// A call or a terminal that goes on until it is cancelled; resolves when it is.
const cancellable = new Map();
const cancelled = (id) => new Promise((resolve) => cancellable.set(id, resolve));
const cancel = (id) => {
  const resolve = cancellable.get(id);
  if (!resolve) throw acp.RequestError.invalidParams({ id });
  cancellable.delete(id);
  resolve();
  return {};
};

const deeds = {
  async all(voice) {
    for (const update of everything) await voice.tell(update);
  },
  async ask(voice) {
    await voice.state("requires_action");
    const toolCall = { toolCallId: "a", title: "Edit a file", kind: "edit", status: "pending" };
    const { outcome } = await voice.permission({ type: "tool_call", toolCall }, "May I edit?");
    await voice.state("running");
    await voice.say(JSON.stringify(outcome));
  },
  async run(voice, command) {
    const { outcome } = await voice.permission({ type: "command", command, cwd: "/project" }, "May I run it?");
    await voice.say(JSON.stringify(outcome));
  },
  async form(voice) {
    const properties = { name: { type: "string", title: "Name" } };
    const answer = await voice.client.request(acp.methods.client.elicitation.create, {
      ...{ sessionId: voice.sessionId, mode: "form", message: "Who are you?" },
      requestedSchema: { type: "object", properties, required: ["name"] },
    });
    await voice.say(JSON.stringify(answer));
  },
  async visit(voice, url) {
    const page = { sessionId: voice.sessionId, mode: "url", message: "Look", url, elicitationId: "e" };
    const answer = await voice.client.request(acp.methods.client.elicitation.create, page);
    await voice.client.notify(acp.methods.client.elicitation.complete, { elicitationId: "e" });
    await voice.say(JSON.stringify(answer));
  },
  async withdraw(voice) {
    const options = { cancellationSignal: AbortSignal.timeout(50) };
    const asked = voice.permission({ type: "command", command: "wait", cwd: "/project" }, "Wait", options);
    await voice.say(String(await asked.catch(({ code }) => code)));
  },
  async mcp(voice) {
    const server = voice.of.params.mcpServers.find(({ type }) => type === "acp");
    await voice.say(JSON.stringify(await mcp.request(voice.client, server.serverId, "tools/list", {})));
  },
  async call(voice) {
    const call = { sessionUpdate: "tool_call_update", toolCallId: "long" };
    const stopped = cancelled("long");
    await voice.tell({ ...call, title: "Long", status: "in_progress", capabilities: { cancel: {} } });
    await stopped;
    await voice.tell({ ...call, status: "cancelled", capabilities: null });
    await voice.say("Cancelled, and on.");
  },
  async background(voice) {
    const work = { sessionUpdate: "terminal_update", terminalId: "back" };
    await voice.tell({ ...work, command: "serve", capabilities: { cancel: {} } });
    voice.background = [{ type: "terminal", terminalId: "back" }];
    cancelled("back").then(async () => {
      await voice.tell({ ...work, exitStatus: { signal: "SIGTERM" }, capabilities: null });
      await voice.state("idle", { background: [] });
    });
  },
  async wait(voice) {
    await voice.say("Waiting.");
    await cancelled(voice.sessionId);
    return "cancelled";
  },
  async later(voice) {
    setTimeout(async () => {
      await voice.state("running");
      await voice.say("By myself.");
      await voice.state("idle", { stopReason: "end_turn" });
    }, 20);
  },
  async refuse() {
    return "refusal";
  },
};

const v2Agent = acp
  .agent({ name: info.name })
  .onRequest(acp.methods.agent.initialize, () => ({
    ...{ protocolVersion: 2, info, capabilities },
    authMethods: [{ type: "agent", methodId: "login", name: "Log in" }],
  }))
  .onRequest(auth.login, async ({ client }) => {
    account = "authenticated";
    await client.notify(acp.methods.client.auth.statusUpdate, { state: account });
  })
  .onRequest(auth.logout, () => void (account = "unauthenticated"))
  .onRequest(auth.status, () => ({ state: account, accounts: [{ label: "Ada", active: true }] }))
  .onRequest(providers.list, () => ({ providers: [{ providerId: "p", supported: ["openai"], required: false, current: spare }] }))
  .onRequest(providers.set, ({ params }) => void (spare = { apiType: params.apiType, baseUrl: params.baseUrl }))
  .onRequest(providers.disable, () => void (spare = null))
  .onRequest(session.new, ({ params }) => {
    acp.assertSupportedMcpServers(params.mcpServers, capabilities.session.mcp);
    return opened(params);
  })
  .onRequest(session.fork, ({ params }) => opened(params))
  .onRequest(session.list, () => ({
    sessions: [...sessions].map(([sessionId, { params, title, archived }]) => ({ sessionId, cwd: params.cwd, title, archived })),
  }))
  .onRequest(session.delete, ({ params }) => void sessions.delete(params.sessionId))
  .onRequest(session.archive, ({ params }) => void (known(params.sessionId).archived = true))
  .onRequest(session.unarchive, ({ params }) => void (known(params.sessionId).archived = false))
  .onRequest(session.status, ({ params }) => ({ status: "open", state: known(params.sessionId).state }))
  .onRequest(session.setTitle, ({ params }) => ({ title: (known(params.sessionId).title = params.title) }))
  .onRequest(session.close, () => {})
  .onRequest(session.resume, async ({ params, client }) => {
    const voice = new Voice(params.sessionId, client);
    voice.of.params = params;
    if (params.replayFrom) for (const update of voice.of.history) await voice.tell(update, false);
    await voice.state("idle");
    return { configOptions: options(), availableCommands };
  })
  .onRequest(session.setConfigOption, ({ params }) => {
    if (!(params.configId in settings)) throw acp.RequestError.invalidParams({ configId: params.configId });
    settings[params.configId] = params.value;
    return { configOptions: options() };
  })
  .onRequest(session.prompt, ({ params, client }) => {
    const voice = new Voice(params.sessionId, client);
    const messageId = `message-${++count}`;
    setTimeout(async () => {
      await voice.tell({ sessionUpdate: "user_message", messageId, content: params.prompt });
      await voice.state("running");
      const words = params.prompt.map((block) => block.text ?? block.type).join(" ");
      const [first, ...rest] = words.split(" ");
      const reason = await (deeds[first] ?? (() => voice.say(words)))(voice, rest.join(" "));
      const usage = { totalTokens: 3, inputTokens: 1, outputTokens: 2 };
      await voice.state("idle", { stopReason: reason ?? "end_turn", usage, background: voice.background ?? [] });
    });
    return { messageId };
  })
  .onNotification(session.cancel, ({ params }) => void (cancellable.has(params.sessionId) && cancel(params.sessionId)))
  .onRequest("_slow", (params) => params, ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(acp.RequestError.requestCancelled())))
  )
  .onRequest(toolCall.cancel, ({ params }) => cancel(params.toolCallId))
  .onRequest(terminal.cancel, ({ params }) => cancel(params.terminalId))
  .onNotification(acp.methods.agent.mcp.message, mcp.handleNotification);

let offered;
const v1Agent = v1
  .agent({ name: "typescript-sdk-v1-agent" })
  .onRequest(v1.methods.agent.initialize, ({ params }) => {
    offered = params.clientCapabilities;
    return { protocolVersion: 1, agentInfo: { name: "typescript-sdk-v1-agent", version: "1" }, agentCapabilities: {} };
  })
  .onRequest(v1.methods.agent.session.new, ({ params }) => ({ sessionId: params.cwd }))
  .onRequest(v1.methods.agent.session.prompt, async ({ params: { sessionId }, client }) => {
    const tell = (update) => client.notify(v1.methods.client.session.update, { sessionId, update });
    if (offered.session?.notices) await tell({ sessionUpdate: "notice", severity: "info", title: "Here" });
    const read = { sessionId, path: `${sessionId}/notes.txt` };
    const { content } = offered.fs?.readTextFile ? await client.request(v1.methods.client.fs.readTextFile, read) : {};
    await tell({ sessionUpdate: "agent_message_chunk", content: text(JSON.stringify({ offered, content })) });
    return { stopReason: "end_turn" };
  });

const agents = {
  v1: () => acp.agentProtocolRouter().withV1(v1Agent),
  v2: () => v2Agent,
  router: () => acp.agentProtocolRouter().withV1(v1Agent).withV2(v2Agent),
};
const [, , kind, place] = process.argv;
if (place === "served") {
  const acpServer = new AcpServer({ createAgent: agents[kind] });
  const server = createServer(createNodeHttpHandler(acpServer));
  server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.stdin.resume().on("end", () => process.exit(0));
} else {
  agents[kind]().connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
