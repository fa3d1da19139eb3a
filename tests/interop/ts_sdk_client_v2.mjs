// A client built on the official TypeScript SDK's draft of ACP v2. It starts the agent that its arguments name, holds a
// whole conversation with it, and prints what came of it as one JSON document. It fails where the SDK does: the SDK
// holds each message of the agent against its own reading of the schema.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v2/unstable/acp.js";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const wire = [];
const tap = new TransformStream({
  transform(bytes, controller) {
    wire.push(Buffer.from(bytes));
    controller.enqueue(bytes);
  },
});
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout).pipeThrough(tap));

const asked = [];
const { session, terminal, toolCall, auth } = acp.methods.agent;
const app = acp
  .client({ name: "typescript-sdk-client" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    asked.push({ title: params.title, subject: params.subject.type });
    const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  })
  .onRequest(acp.methods.client.elicitation.create, ({ params }) => {
    asked.push({ title: params.message, subject: params.mode });
    return params.mode === "form" ? { action: "accept", content: { name: "Ada" } } : { action: "accept" };
  });

// Collect the updates of an active session up to its next stop.
const untilStop = async (active) => {
  const updates = [];
  for (;;) {
    const message = await active.nextUpdate();
    updates.push(message.update);
    if (message.kind === "stop") return updates;
  }
};
const turn = async (active, text) => {
  const { messageId } = await active.prompt(text);
  const updates = await untilStop(active);
  return { messageId, updates };
};
const refusal = async (call) => {
  try {
    return { answer: await call };
  } catch (error) {
    return { code: error.code, data: error.data };
  }
};

const told = await app.connectWith(stream, async (agent) => {
  const offer = { protocolVersion: 2, info: { name: "typescript-sdk-client", version: "1" } };
  await agent.request(acp.methods.agent.initialize, { ...offer, capabilities: {} });
  const agreed = await agent.request(acp.methods.agent.initialize, {
    ...offer,
    capabilities: { elicitation: { form: {}, url: {} } },
  });
  const login = agreed.authMethods[0];
  const before = await refusal(agent.request(session.new, { cwd: "/project" }));
  await agent.request(auth.login, { methodId: login.methodId });

  const active = await agent.buildSession("/project").start();
  const options = active.configOptions.map(({ configId }) => configId);
  const shown = await turn(active, "Show me");
  const questions = await turn(active, "/ask\n/visit");
  const plans = await turn(active, "/plans\n/notices\n/compact\n/content");
  await active.setConfigOption({ configId: "plans", type: "boolean", value: false });

  // One call is cancelled and the turn goes on; then a whole turn is.
  const prompted = await active.prompt("/work Count");
  let call;
  while (!call || !active.canCancelToolCall(call)) call = (await active.nextUpdate()).update.toolCallId;
  await active.cancelToolCall(call);
  const afterCall = await untilStop(active);
  await active.prompt("/wait");
  await agent.notify(session.cancel, { sessionId: active.sessionId });
  const cancelled = await untilStop(active);

  // Work in the background, which the client ends.
  const left = await turn(active, "/background 1000");
  const background = active.background;
  const [{ terminalId }] = background;
  await active.cancelTerminal(terminalId);
  const afterTerminal = await untilStop(active);
  const unknown = await refusal(agent.request(terminal.cancel, { sessionId: active.sessionId, terminalId }));
  const noCall = await refusal(agent.request(toolCall.cancel, { sessionId: active.sessionId, toolCallId: "none" }));

  // Work of the agent's own will: two ends, and only one prompt.
  const later = [(await turn(active, "/later I am back.")).updates, await untilStop(active)];

  const fork = await agent.request(session.fork, { sessionId: active.sessionId, cwd: "/project" });
  const status = await agent.request(session.status, { sessionId: active.sessionId });
  const listed = await agent.request(session.list, {});
  await agent.request(session.close, { sessionId: active.sessionId });
  const replayed = agent.attachSession({ sessionId: active.sessionId });
  await agent.request(session.resume, {
    sessionId: active.sessionId,
    cwd: "/project",
    replayFrom: { type: "start" },
  });
  const replay = await untilStop(replayed);
  await agent.request(session.delete, { sessionId: fork.sessionId });
  await agent.request(auth.logout, {});
  const after = await refusal(agent.request(session.new, { cwd: "/project" }));
  return {
    ...{ agreed, before, options, shown, questions, plans, prompted, afterCall, cancelled, left, background },
    ...{ afterTerminal, unknown, noCall, later, status, listed, replay, after, asked },
  };
});
child.stdin.end();
await new Promise((resolve) => child.on("exit", resolve));
console.log(JSON.stringify({ ...told, wire: Buffer.concat(wire).toString(), exitCode: child.exitCode }));
