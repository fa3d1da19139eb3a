/** The members of a session's JSON form that the view reads; see docs/json-form.md. Words such as a status are open. */
import type { Json } from "./json_patch";

export type JsonObject = { [name: string]: Json };

export interface TextPart {
  type: "text";
  segments: string[];
}
export interface BlockPart {
  type: "block";
  block: ContentBlock;
}
export type Part = TextPart | BlockPart;
export type ContentBlock = { type: string } & JsonObject;

interface EntryBase {
  position: number;
}
export interface MessageEntry extends EntryBase {
  type: "message";
  speaker: string;
  parts: Part[];
}
export interface ToolCallEntry extends EntryBase {
  type: "tool_call";
  toolCallId: string;
  title: string;
  name: string | null;
  kind: string | null;
  status: string | null;
  content: ToolContent[] | null;
  locations: { path: string; line?: number | null }[] | null;
  rawInput: Json;
  rawOutput: Json;
  unfinished: boolean;
  cancellable: boolean;
  harn: JsonObject | null;
}
export type ToolContent = { type: string } & JsonObject;
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  status: string | null;
  summary: Part[];
  error: string | null;
}
export interface SessionMessageEntry extends EntryBase {
  type: "session_message";
  senderSessionId: string | null;
  recipientSessionId: string | null;
  parts: Part[];
}
export interface HistoryEntry extends EntryBase {
  type: "history";
  action: string;
  removedTurns: number | null;
  reason: string | null;
}
export interface ConnectionEntry extends EntryBase {
  type: "connection";
  summary: string;
}
export interface ReminderTextEntry extends EntryBase {
  type: "reminder";
  body: string;
}
export interface UnknownEntry extends EntryBase {
  type: "unknown";
  tag: string | null;
  data: Json;
}
export type Entry =
  | MessageEntry
  | ToolCallEntry
  | CompactionEntry
  | SessionMessageEntry
  | HistoryEntry
  | ConnectionEntry
  | ReminderTextEntry
  | UnknownEntry;

export interface Plan {
  planId: string | null;
  content: { type: string } & JsonObject;
}
export interface Command {
  name: string;
  description: string;
  input?: { hint: string } | null;
}
export interface Choice {
  value: string;
  name: string;
  description: string | null;
  group: string | null;
}
export interface SessionOption {
  id: string;
  name: string;
  kind: string;
  value: Json;
  pending: Json;
  error: string | null;
  description: string | null;
  choices: Choice[];
}
export interface Terminal {
  command: string;
  output: string[];
  truncated: boolean;
  ended: boolean;
  exitCode: number | null;
  signal: string | null;
  owner: string;
  cancellable: boolean;
}
export interface Turn {
  status: string;
  activity: boolean;
  turn: number | null;
  queued: { turn: number; prompt: ContentBlock[] }[];
  outcome: string | null;
  detail: string;
  origin: string;
}
export interface Reminder {
  id: string;
  status: string;
  body: string;
  active: boolean;
  tags: string[];
  dedupeKey: string | null;
  origin: string | null;
  rung: string | null;
  timesEmitted: number;
  ttlTurns: number | null;
  ttlLeft: number | null;
  replacedBy: string | null;
  adjustments: { field: string; asked: string; sent: string | null; reason: string }[];
  error: { message: string; rung: string | null } | null;
  estimated: boolean;
  replayed: boolean;
}
export interface Notice {
  id: string;
  agentName: string;
  severity: string;
  displayTitle: string;
  displayDescription: string | null;
  received: number;
  count: number;
  state: string | null;
  presentation: { duration: number | null; politeness: string; look: string };
  suppressedBy: string | null;
  duringReplay: boolean;
}
export interface Health {
  status: string;
  detail: string;
}
export interface Usage {
  used: number | null;
  size: number | null;
  cost: { amount: number; currency: string } | null;
}
export interface Injection {
  content: ContentBlock[];
  status: string;
}
export interface SessionState {
  sessionId: string;
  /** `null`: an entry that the feed has left out so far. */
  transcript: { first: number; entries: (Entry | null)[] };
  plans: Plan[];
  commands: Command[];
  options: { entries: SessionOption[] };
  usage: Usage;
  subagents: JsonObject;
  terminals: { [id: string]: Terminal };
  turn: Turn;
  health: Health;
  reminders: { entries: Reminder[] };
  notices: { toasts: Notice[]; history: Notice[]; total: number };
  injections: { [id: string]: Injection };
  harn: JsonObject | null;
}
