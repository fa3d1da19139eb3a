/** The feed over a WebSocket, which is opened again whenever it is lost. */
import type { Command, Connected, FromHost, Transport } from "./feed";

const FIRST_DELAY = 250;
const LONGEST_DELAY = 10_000;

/**
 * Connects to a feed.
 *
 * @param url where it is; relative to the page, or an address of `ws:` or `wss:`.
 */
export function connectFeed(url: string): Transport {
  const address = new URL(url, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  return new SocketTransport(address.href);
}

class SocketTransport implements Transport {
  private socket: WebSocket | null = null;
  private delay = FIRST_DELAY;
  private closed = false;
  private timer = 0;

  constructor(private readonly url: string) {}

  open(receive: (message: FromHost) => void, connected: (state: Connected) => void): void {
    const socket = (this.socket = new WebSocket(this.url));
    socket.onopen = () => {
      this.delay = FIRST_DELAY;
      connected("open");
    };
    socket.onmessage = (event) => receive(JSON.parse(event.data as string) as FromHost);
    socket.onclose = () => {
      connected("lost");
      if (this.closed) return;
      this.timer = window.setTimeout(() => this.open(receive, connected), this.delay);
      this.delay = Math.min(this.delay * 2, LONGEST_DELAY);
    };
  }

  send(command: Command): void {
    this.socket?.send(JSON.stringify(command));
  }

  close(): void {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
  }
}
