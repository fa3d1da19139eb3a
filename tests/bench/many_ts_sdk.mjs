// The official TypeScript SDK with many connections, sessions or requests; see many_host.py.
// node --expose-gc many_ts_sdk.mjs PYTHON connections|sessions|requests COUNT [RATE], or start TIME

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as acp from "../npm/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

const [python, what, ...numbers] = process.argv.slice(2);
const [count, rate] = numbers.map(Number); // of start, the first is the time at which this program was started
const program = fileURLToPath(new URL("quiet_agent.py", import.meta.url));
const { agent: methods } = acp.methods;

function weight() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

// Resolves to a connection, and to what closes it.
function connect(...parameters) {
  const agent = spawn(python, ["-I", "-S", program, ...parameters.map(String)], { stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  return new Promise((resolve) => {
    acp
      .client({ name: "bench" })
      .onNotification(acp.methods.client.session.update, () => {})
      .connectWith(stream, async (context) => {
        await context.request(methods.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
        await new Promise((close) => resolve({ context, close }));
      })
      .finally(() => agent.kill());
  });
}

async function newSession({ context }) {
  return (await context.request(methods.session.new, { cwd: "/", mcpServers: [] })).sessionId;
}

async function connections() {
  const open = [await connect()];
  await newSession(open[0]);
  const empty = weight();
  const began = performance.now();
  for (let number = 0; number < count; number += 1) open.push(await connect());
  const seconds = (performance.now() - began) / 1000;
  const held = weight();
  for (const each of open.slice(1)) await newSession(each);
  const whole = weight();
  for (const each of open) each.close();
  return { connection: (held - empty) / count, session: (whole - held) / count, seconds };
}

async function sessions() {
  const host = await connect();
  await newSession(host);
  const empty = weight();
  const began = performance.now();
  const processor = process.cpuUsage();
  for (let number = 0; number < count; number += 1) await newSession(host);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(processor);
  const held = weight();
  host.close();
  return { session: (held - empty) / count, seconds, cpu: (user + system) / 1e6 };
}

async function requests() {
  const host = await connect(rate);
  const [quiet, busy] = [await newSession(host), await newSession(host)];
  const prompt = [{ type: "text", text: "go" }];
  const turn = rate && host.context.request(methods.session.prompt, { sessionId: busy, prompt });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const milliseconds = [];
  const processor = process.cpuUsage();
  for (let number = 0; number < count; number += 1) {
    const started = performance.now();
    await host.context.request(methods.session.setMode, { sessionId: quiet, modeId: "code" });
    milliseconds.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(processor);
  if (rate) await host.context.notify(methods.session.cancel, { sessionId: busy });
  await turn;
  host.close();
  return { milliseconds, cpu: (user + system) / 1e6 };
}

async function start() {
  const called = performance.now();
  const host = await connect();
  await newSession(host);
  const seconds = (performance.now() - called) / 1000;
  const now = Date.now() / 1000;
  host.close();
  return { from_program: now - count, from_connect: seconds };
}

console.log(JSON.stringify(await { connections, sessions, requests, start }[what]()));
