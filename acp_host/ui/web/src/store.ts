/**
 * What the view shows: the host's last word on every session, kept up to date by deltas, and what the user has asked for.
 *
 * Nothing here draws. {@link Store.watch} is told that something has changed, as often as messages come; who draws does so
 * once per frame.
 */
import type {
  Command,
  Connected,
  ConnectionHealth,
  Diagnostic,
  FromHost,
  Hello,
  LoginState,
  Offers,
  Question,
  SessionName,
  Transport,
} from "./feed";
import { applyPatch, PatchError, type Json } from "./json_patch";
import type { Entry, SessionState } from "./state";

const MOST_DIAGNOSTICS = 200;
/** Commands that are about no session. */
const WITHOUT_SESSION = new Set(["answer", "control", "new_session", "list_sessions", "list_logins", "log_in", "log_out"]);

/** The host refused a command, or could not be asked. */
export class CommandError extends Error {}

export interface View {
  connected: Connected;
  hello: Hello | null;
  /** The number of the viewer that may act; `null`: the seat is free. */
  controller: number | null;
  viewers: number;
  sessions: readonly SessionName[];
  /** The session that is shown. */
  current: string | null;
  state: SessionState | null;
  questions: readonly Question[];
  diagnostics: readonly Diagnostic[];
  health: ConnectionHealth | null;
  offers: Offers;
  /** `null`: a host that tells nothing of logins. */
  login: LoginState | null;
}

const OFFERS_NOTHING: Offers = { list: false, load: false, resume: false, delete: false, images: false, files: false };

interface Versioned {
  state: SessionState;
  /** The feed's number of it, from which the next delta leads on. */
  version: number;
}

interface Fetched {
  entries: Entry[];
}

export class Store {
  private readonly states = new Map<string, Versioned>();
  private readonly waiting = new Map<number, (outcome: Extract<FromHost, { type: "result" }>) => void>();
  private nextId = 1;
  private changed: () => void = () => {};
  private shown: View = {
    connected: "connecting",
    hello: null,
    controller: null,
    viewers: 1,
    sessions: [],
    current: null,
    state: null,
    questions: [],
    diagnostics: [],
    health: null,
    offers: OFFERS_NOTHING,
    login: null,
  };

  constructor(private readonly transport: Transport) {}

  get view(): View {
    return this.shown;
  }

  /** Begins to receive; `changed` is called after each change. */
  watch(changed: () => void): void {
    this.changed = changed;
    this.transport.open(
      (message) => this.receive(message),
      (connected) => this.connection(connected),
    );
  }

  close(): void {
    this.changed = () => {};
    this.transport.close();
  }

  /** Shows another session; the one that was shown is not followed meanwhile. */
  show(session: string): void {
    const before = this.shown.current;
    if (before === session) return;
    if (before !== null) this.command("leave", { session: before }).catch(() => {});
    const known = this.states.get(session);
    this.update({ current: session, state: known?.state ?? null });
    this.resume(session, known?.version ?? null);
  }

  /**
   * Asks the host for something.
   *
   * @throws CommandError it did not work; the message says why, for people.
   */
  command(name: string, parameters: { [name: string]: unknown } = {}): Promise<Json> {
    const id = this.nextId++;
    const session = WITHOUT_SESSION.has(name) ? {} : { session: this.shown.current ?? undefined };
    const command: Command = { id, command: name, ...session, ...parameters };
    return new Promise((resolve, reject) => {
      if (this.shown.connected !== "open") return reject(new CommandError("the page has no connection to the host"));
      this.waiting.set(id, (outcome) => {
        if (outcome.ok) return resolve(outcome.value ?? null);
        const { error } = outcome;
        reject(new CommandError(typeof error === "string" ? error : error.message));
      });
      this.transport.send(command);
    });
  }

  /** Fetches entries of the transcript that the snapshot has left out; they appear when they come. */
  fetchEntries(first: number, last: number): void {
    const session = this.shown.current;
    const fetched = this.command("fetch", { first, last });
    fetched.then((value) => session !== null && this.insert(session, (value as unknown as Fetched).entries), () => {});
  }

  private insert(session: string, fetched: readonly Entry[]): void {
    const known = this.states.get(session);
    if (known === undefined) return;
    const { transcript } = known.state;
    const entries = transcript.entries.slice();
    for (const entry of fetched) {
      const place = entry.position - transcript.first;
      if (entries[place] === null) entries[place] = entry;
    }
    this.keep(session, known.version, { ...known.state, transcript: { ...transcript, entries } });
  }

  private connection(connected: Connected): void {
    if (connected === "lost") {
      const lost = { type: "result", id: 0, ok: false, error: "the connection to the host was lost" } as const;
      for (const settle of this.waiting.values()) settle(lost);
      this.waiting.clear();
    }
    this.update({ connected });
  }

  private receive(message: FromHost): void {
    switch (message.type) {
      case "hello":
        return this.greet(message);
      case "snapshot":
        return this.keep(message.session, message.version, withOmitted(message.state, message.omitted ?? 0));
      case "delta":
        return this.apply(message);
      case "sessions":
        return this.list(message.items);
      case "control":
        return this.update({ controller: message.controller, viewers: message.viewers.length });
      case "questions":
        return this.update({ questions: message.items });
      case "diagnostics":
        return this.update({ diagnostics: [...this.shown.diagnostics, ...message.items].slice(-MOST_DIAGNOSTICS) });
      case "offers":
        return this.update({ offers: message });
      case "login":
        return this.update({ login: message });
      case "health":
        return this.update({ health: message });
      case "result":
        this.waiting.get(message.id)?.(message);
        this.waiting.delete(message.id);
    }
  }

  private greet(hello: Hello): void {
    // A feed of another life knows nothing of the versions that are here.
    if (hello.resume !== this.shown.hello?.resume) this.states.clear();
    const { current } = this.shown;
    this.update({ hello, diagnostics: [] }); // of these, it tells all
    this.list(hello.sessions);
    if (current !== null && current === this.shown.current) this.resume(current, this.states.get(current)?.version ?? null);
  }

  private list(sessions: readonly SessionName[]): void {
    const ids = new Set(sessions.map((session) => session.id));
    for (const id of this.states.keys()) if (!ids.has(id)) this.states.delete(id);
    const current = this.shown.current !== null && ids.has(this.shown.current) ? this.shown.current : null;
    this.update({ sessions, current, ...(current === null && { state: null }) });
    const first = sessions[0];
    if (current === null && first !== undefined) this.show(first.id);
  }

  private keep(session: string, version: number, state: SessionState): void {
    this.states.set(session, { state, version });
    if (this.shown.current === session) this.update({ state });
  }

  private apply(delta: Extract<FromHost, { type: "delta" }>): void {
    const before = this.states.get(delta.session);
    if (before === undefined) return;
    try {
      if (delta.from !== before.version) throw new PatchError(`${delta.from} is not the version that is here`);
      const state = applyPatch(before.state as unknown as Json, delta.ops) as unknown as SessionState;
      this.keep(delta.session, delta.version, state);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      this.states.delete(delta.session);
      if (delta.session === this.shown.current) this.resume(delta.session, null);
    }
  }

  /** Asks for what has changed since a version, or for all of it. */
  private resume(session: string, version: number | null): void {
    const resume = this.shown.hello?.resume;
    this.command("resume", { session, version, ...(resume !== undefined && { resume }) }).catch(() => {});
  }

  private update(change: Partial<View>): void {
    this.shown = { ...this.shown, ...change };
    this.changed();
  }
}

/** Puts a place in the transcript for each entry that was left out at its beginning. */
function withOmitted(state: SessionState, omitted: number): SessionState {
  if (omitted === 0) return state;
  const { transcript } = state;
  const entries = [...Array<null>(omitted).fill(null), ...transcript.entries];
  return { ...state, transcript: { ...transcript, entries } };
}
