/**
 * The feed over the custom messages of a widget, which all views of the widget share.
 *
 * A notebook tells neither whether its kernel takes messages, which one that is busy with a cell may not, nor whether it
 * is still there. So the kernel says of each message that it has got it; and what comes from it is acknowledged, so that
 * it sends no faster than the view can take it.
 */
import type { Command, Connected, FromHost, Transport } from "./feed";

/** The part of anywidget's model that is used. */
export interface Model {
  get(name: string): unknown;
  on(event: string, handler: (content: FromKernel, buffers: DataView[]) => void): void;
  off(event: string, handler: (content: FromKernel, buffers: DataView[]) => void): void;
  send(content: ToKernel): void;
}

interface ToKernel {
  /** The random name of this view. */
  view: string;
  /** `here`: only to be answered; `took`: acknowledges. */
  kind: "join" | "leave" | "here" | "command" | "took";
  /** Numbers what is sent; of `took`, the number of what was taken. */
  number: number;
  command?: string;
}

interface FromKernel {
  /** Of the view that it is for; `*`: for all. */
  view: string;
  /** `message`: one of the feed is in the buffer; `here`: only to be acknowledged; `got`: what the view has sent was; `gone`: the view is not known. */
  kind: "message" | "here" | "got" | "gone";
  number: number;
}

const EVERYBODY = "*";
const HEARTBEAT = 15_000;
const PATIENCE = 3_000;

const BUSY =
  "The kernel has not got what you did: it is busy with a cell, or it has ended. What the agent does goes on meanwhile, and is shown.";
const SILENT =
  "Nothing answers here. The conversation lives in the kernel that it was begun in, which is busy or has ended. Run the cell again to begin another one.";
const ENDED = "The conversation has ended with the kernel that it was begun in. Run the cell again to begin another one.";

export class WidgetTransport implements Transport {
  private readonly view = randomName();
  /** Since when something that was sent waits for an answer; `null`: nothing does. */
  private waitsSince: number | null = null;
  private timers: number[] = [];
  private number = 0;
  private joined = false;
  private reached = true;
  private told = "";
  private receive: (message: FromHost) => void = () => {};
  private connected: (state: Connected) => void = () => {};

  /** @param note shows words above the view; none take them away. */
  constructor(
    private readonly model: Model,
    private readonly note: (words: string) => void,
  ) {}

  open(receive: (message: FromHost) => void, connected: (state: Connected) => void): void {
    this.receive = receive;
    this.connected = connected;
    this.model.on("msg:custom", this.take);
    this.model.on("change:_words", this.tell);
    this.say("join");
    this.tell();
    const beat = () => this.say(this.joined ? "here" : "join");
    this.timers = [window.setInterval(beat, HEARTBEAT), window.setInterval(this.tell, PATIENCE / 3)];
  }

  send(command: Command): void {
    this.say("command", JSON.stringify(command));
  }

  close(): void {
    for (const timer of this.timers) window.clearInterval(timer);
    this.say("leave");
    this.model.off("msg:custom", this.take);
    this.model.off("change:_words", this.tell);
  }

  private say(kind: ToKernel["kind"], command?: string): void {
    const number = ++this.number;
    this.waitsSince ??= Date.now();
    this.post({ view: this.view, kind, number, ...(command !== undefined && { command }) });
  }

  private post(content: ToKernel): void {
    try {
      this.model.send(content);
      this.reached = true;
    } catch {
      // There is no kernel any more, or not for now.
      this.reached = false;
      if (this.joined) this.connected("lost");
      this.joined = false;
    }
    this.tell();
  }

  private readonly take = (content: FromKernel, buffers: DataView[]): void => {
    if (content.view !== this.view && content.view !== EVERYBODY) return;
    switch (content.kind) {
      case "got":
        // What was sent before is answered, too, or was lost; what was sent since then waits from now on.
        this.waitsSince = content.number < this.number ? Date.now() : null;
        return this.tell();
      case "here":
        return this.took(content.number);
      case "gone":
        if (this.joined) this.connected("lost");
        this.joined = false;
        return this.say("join");
      case "message":
        return this.takeMessage(content.number, buffers[0]);
    }
  };

  private takeMessage(number: number, data: DataView | undefined): void {
    this.took(number);
    if (data === undefined) return;
    if (!this.joined) {
      this.joined = true;
      this.connected("open");
    }
    this.receive(JSON.parse(new TextDecoder().decode(data)) as FromHost);
  }

  private took(number: number): void {
    this.post({ view: this.view, kind: "took", number });
  }

  /** Says what the kernel says of the conversation, or that it does not answer. */
  private readonly tell = (): void => {
    const late = this.waitsSince !== null && Date.now() - this.waitsSince > PATIENCE;
    const silence = !this.reached ? ENDED : this.joined ? BUSY : SILENT;
    const words = late || !this.reached ? silence : String(this.model.get("_words") ?? "");
    if (words !== this.told) this.note((this.told = words));
  };
}

/** A name that no other view has; `crypto.randomUUID` is not there where a notebook is served without TLS. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}
