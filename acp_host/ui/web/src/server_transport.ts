/** The feed of an agent that the notebook's own server hosts, see acp_host/ui/jupyter_server; no kernel is on the way. */
import type { Command, Connected, FromHost, Transport } from "./feed";
import { connectFeed } from "./socket";

const AGAIN = 2_000;

interface Hosted {
  id: string;
  agent: string;
  status: string;
}

export class ServerTransport implements Transport {
  private socket: Transport | null = null;
  private timer = 0;
  private closed = false;

  /**
   * @param agent its name in the server's configuration, or its id.
   * @param note shows words above the view; none take them away.
   */
  constructor(
    private readonly agent: string,
    private readonly note: (words: string) => void,
  ) {}

  open(receive: (message: FromHost) => void, connected: (state: Connected) => void): void {
    const base = baseUrl();
    if (base === null) return this.note("This page does not come from a Jupyter Server, so there is no agent of one.");
    void find(base, this.agent).then((found) => {
      if (this.closed) return;
      const again = () => (this.timer = window.setTimeout(() => this.open(receive, connected), AGAIN));
      this.note(typeof found === "string" ? found : "");
      if (typeof found === "string") return again();
      const socket = (this.socket = connectFeed(`${base}acp/agents/${found.id}/feed`));
      socket.open(receive, (state) => {
        connected(state);
        if (state !== "lost" || this.closed) return;
        // One that was stopped and started again has another address.
        socket.close();
        again();
      });
    });
  }

  send(command: Command): void {
    this.socket?.send(command);
  }

  close(): void {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
  }
}

/** Returns an agent that runs, or why there is none. */
async function find(base: string, agent: string): Promise<Hosted | string> {
  try {
    const answer = await fetch(`${base}acp/api/agents`, { credentials: "same-origin" });
    if (!answer.ok) return `The server hosts no agents here: it answers ${answer.status}.`;
    const { running } = (await answer.json()) as { running: Hosted[] };
    const found = running.filter(({ id, agent: name, status }) => [id, name].includes(agent) && status !== "failed");
    return found.find(({ status }) => status !== "ended") ?? found[0] ?? `No agent ${agent} runs in the server; it can be started at ${base}acp/.`;
  } catch {
    return "The server cannot be reached.";
  }
}

/** Returns the address of the server, as JupyterLab and Notebook 7 write it into their pages. */
function baseUrl(): string | null {
  const config = document.getElementById("jupyter-config-data")?.textContent;
  if (!config) return null;
  const { baseUrl } = JSON.parse(config) as { baseUrl?: string };
  return baseUrl === undefined ? null : new URL(baseUrl, location.href).href;
}
