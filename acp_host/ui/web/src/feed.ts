/** The messages between the view and the host; see docs/feed.md. */
import type { Json, Operation } from "./json_patch";
import type { SessionState } from "./state";

export interface SessionName {
  id: string;
  title: string | null;
  open?: boolean;
  status?: string;
  /** Of a subagent: who has announced it. */
  parent?: string | null;
}

/** What the agent has. */
export interface Offers {
  list: boolean;
  load: boolean;
  resume: boolean;
  delete: boolean;
  images: boolean;
  files: boolean;
}

export interface LoginWay {
  id: string;
  kind: string;
  name: string;
  description: string;
  /** Why it cannot be taken now; empty where it can. */
  unavailable: string;
  command: string | null;
  variables: { name: string; label: string; secret: boolean; optional: boolean }[];
  link: string;
}

export interface LoginState {
  state: string;
  accounts: { [name: string]: Json }[];
  loggingIn: boolean;
  canLogIn: boolean;
  canLogOut: boolean;
}

export interface Field {
  name: string;
  kind: string;
  label: string;
  description: string;
  required: boolean;
  default: Json;
  choices: { value: string; label: string; description: string }[];
  minLength: number | null;
  maxLength: number | null;
  pattern: string | null;
  minimum: number | null;
  maximum: number | null;
  minItems: number | null;
  maxItems: number | null;
}

interface QuestionBase {
  number: number;
  session: string | null;
  /** The name to show in the frame around what the agent says. */
  agent: string;
  toolCallId: string | null;
  /** The request as it came; `null` where it is very large. */
  raw: Json;
}
export interface PermissionQuestion extends QuestionBase {
  kind: "permission";
  title: string;
  summary: string;
  command: string | null;
  paths: string[];
  hidesEdit: boolean;
  options: { id: string; name: string; kind: string }[];
  reason: string | null;
  remember: string | null;
  hostsOwn: boolean;
}
export interface FormQuestion extends QuestionBase {
  kind: "form";
  title: string;
  message: string;
  description: string;
  fields: Field[];
  values: { [name: string]: Json };
  problems: string[];
}
export interface PageQuestion extends QuestionBase {
  kind: "page";
  message: string;
  url: string;
  host: string;
  displayHost: string;
  warnings: string[];
  completed: boolean;
}
export interface LoginQuestion extends QuestionBase {
  kind: "login";
  message: string;
  method: string;
  ways: LoginWay[];
}
/** Something that nobody can answer here; it is shown as it came. */
export interface OtherQuestion extends QuestionBase {
  kind: "other";
}
export type Question = PermissionQuestion | FormQuestion | PageQuestion | LoginQuestion | OtherQuestion;

export interface Diagnostic {
  number: number;
  kind: string;
  message: string;
  method: string | null;
  path: string | null;
  sessionId: string | null;
  data: Json;
  count: number;
}

export interface Hello {
  type: "hello";
  feed: number;
  agent: { name: string; title?: string | null; version?: string | null };
  /** The number of this viewer. */
  viewer: number;
  mayControl: boolean;
  /** Where sessions work that are opened from here. */
  cwd?: string;
  sessions: SessionName[];
  resume?: string;
}

/** Whether the agent can be reached. */
export interface ConnectionHealth {
  status: string;
  attempt?: number;
  error?: string | null;
}

export type FromHost =
  | Hello
  | { type: "snapshot"; session: string; version: number; omitted?: number; state: SessionState }
  | { type: "delta"; session: string; from: number; version: number; ops: Operation[] }
  | { type: "sessions"; items: SessionName[] }
  | { type: "control"; controller: number | null; viewers: number[] }
  | ({ type: "offers" } & Offers)
  | ({ type: "login" } & LoginState)
  | { type: "questions"; items: Question[] }
  | { type: "diagnostics"; items: Diagnostic[] }
  | ({ type: "health" } & ConnectionHealth)
  | { type: "result"; id: number; ok: true; value?: Json }
  | { type: "result"; id: number; ok: false; error: { message: string } | string };

export interface Command {
  id: number;
  command: string;
  session?: string;
  [parameter: string]: unknown;
}

/** What carries the messages: a WebSocket for the page, a comm for a widget. */
export interface Transport {
  /** Begins; `receive` gets each message, and `connected` whether messages can be sent. */
  open(receive: (message: FromHost) => void, connected: (state: Connected) => void): void;
  send(command: Command): void;
  close(): void;
}

export type Connected = "connecting" | "open" | "lost";
