// An agent built on the official TypeScript SDK: it has a mode and options, and calls the MCP servers of its host.
//
// `{"method": …, "params": …}` as a prompt is sent to the host's first MCP server; what comes of it is repeated, one
// JSON document a line: notifications first, then the outcome. Any other prompt is repeated.
// In place of `configOptions`, the flag `old` makes it tell of modes and models as an older draft has them.

import { Readable, Writable } from "node:stream";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/unstable/acp.js";
import { McpOverAcpCaller } from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/unstable/mcp.js";

const old = process.argv.includes("old");
const mcp = new McpOverAcpCaller({ clientInfo: { name: "typescript-sdk-agent", version: "1" } });
const servers = new Map();
const settings = { mode: "ask", model: "small", fast: false };

const named = (...values) => values.map((value) => ({ value, name: value }));
const options = () => [
  { type: "select", id: "mode", name: "Mode", category: "mode", currentValue: settings.mode, options: named("ask", "code") },
  { type: "select", id: "model", name: "Model", category: "model", currentValue: settings.model, options: named("small", "large") },
  { type: "boolean", id: "fast", name: "Fast", currentValue: settings.fast },
];
const modes = () => ({ currentModeId: settings.mode, availableModes: [{ id: "ask", name: "ask" }, { id: "code", name: "code" }] });
const models = () => ({ currentModelId: settings.model, availableModels: [{ modelId: "small", name: "small" }, { modelId: "large", name: "large" }] });

let sessions = 0;
const { initialize, session } = acp.methods.agent;

acp
  .agent({ name: "typescript-sdk-agent" })
  .onRequest(initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { mcpCapabilities: { acp: true } },
    agentInfo: { name: "typescript-sdk-agent", version: "1" },
  }))
  .onRequest(session.new, ({ params }) => {
    const sessionId = `session-${++sessions}`;
    servers.set(sessionId, params.mcpServers.filter((server) => server.type === "acp"));
    return old ? { sessionId, modes: modes(), models: models() } : { sessionId, modes: modes(), configOptions: options() };
  })
  .onRequest(session.setMode, async ({ params, client }) => {
    if (!["ask", "code"].includes(params.modeId)) throw acp.RequestError.invalidParams({ modeId: params.modeId });
    settings.mode = params.modeId;
    const update = old ? { sessionUpdate: "current_mode_update", currentModeId: settings.mode } : { sessionUpdate: "config_option_update", configOptions: options() };
    await client.notify(acp.methods.client.session.update, { sessionId: params.sessionId, update });
    return {};
  })
  .onRequest("session/set_model", (params) => params, ({ params }) => {
    settings.model = params.modelId;
    return {};
  })
  .onRequest(session.setConfigOption, ({ params }) => {
    if (params.value === "large") throw acp.RequestError.internalError({ details: "no credit" });
    settings[params.configId] = params.value;
    return { configOptions: options() };
  })
  .onRequest(session.prompt, async ({ params, client }) => {
    const [{ text }] = params.prompt;
    const say = (words) =>
      client.notify(acp.methods.client.session.update, {
        sessionId: params.sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } },
      });
    if (!text.startsWith("{")) {
      await say(text);
      return { stopReason: "end_turn" };
    }
    const asked = JSON.parse(text);
    const serverId = asked.serverId ?? servers.get(params.sessionId)[0].serverId;
    const lines = [];
    const aborted = asked.abort ? AbortSignal.timeout(asked.abort) : undefined;
    try {
      const onNotification = ({ method, params }) => lines.push({ method, params });
      lines.push(await mcp.request(client, serverId, asked.method, asked.params, { onNotification, signal: aborted }));
    } catch (error) {
      lines.push({ code: error.code, message: error.message });
    }
    await say(lines.map((line) => JSON.stringify(line)).join("\n"));
    return { stopReason: "end_turn" };
  })
  .onNotification(acp.methods.agent.mcp.message, mcp.handleNotification)
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
