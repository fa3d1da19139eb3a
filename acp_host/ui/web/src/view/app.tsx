/** The whole view: one session with its panels, and what stands over it. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { oneLine, printable } from "../plain_text";
import type { SessionState, Turn } from "../state";
import type { Store, View } from "../store";
import { Composer } from "./composer";
import { Context, focusedBeside, useKept, type ViewContext } from "./context";
import { DrawBudget } from "./draw_budget";
import { Header, HealthBanner, sessionOf } from "./header";
import { KeptSessions } from "./kept_sessions";
import { Account } from "./login";
import { Toasts } from "./notices";
import { SidePanel } from "./side_panel";
import { Options, UsageMeter } from "./session_bar";
import { Questions } from "./questions";
import { SubagentBar } from "./subagents";
import { Transcript } from "./transcript";

const PROBLEM_SECONDS = 8;
const NARROW = 760;

/** @param props.name tells the views of a document apart; @param props.alone it has a window of its own. */
export function App(props: { store: Store; view: View; name: string; alone: boolean }) {
  const { store, view, name, alone } = props;
  const root = useRef<HTMLDivElement>(null);
  const kept = useMemo(() => new Map<string, unknown>(), []);
  const budget = useMemo(() => new DrawBudget(), []);
  const [problem, setProblem] = useState("");
  const agent = oneLine(view.hello?.agent.title || view.hello?.agent.name || "the agent", 80);
  const session = view.current;
  const controls = view.hello !== null && view.controller === view.hello.viewer && view.connected === "open";
  const context: ViewContext = useMemo(
    () => ({ store, agent, session, controls, kept, budget, alone, failed: setProblem, id: (part) => `${name}-${part}` }),
    [store, agent, session, controls, kept, budget, alone, name],
  );
  const keepFocus = useFocusKept(root);
  useEffect(() => {
    if (problem === "") return;
    const timer = setTimeout(() => setProblem(""), PROBLEM_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [problem]);

  return (
    <Context.Provider value={context}>
      <div ref={root} class="acp-view" tabIndex={-1} onFocusIn={keepFocus} onKeyDown={(event) => root.current && goToNextArea(event, root.current)}>
        <Header view={view} agent={agent} />
        <HealthBanner view={view} />
        <div class={problem ? "health trouble" : "health"} role="alert">
          {printable(problem)}
        </div>
        {view.state === null ? (
          <NoSession view={view} agent={agent} />
        ) : (
          <Session key={view.state.sessionId} view={view} state={view.state} agent={agent} />
        )}
      </div>
    </Context.Provider>
  );
}

/** What there is without a session: questions that are about none, logins, and the agent's own sessions. */
function NoSession(props: { view: View; agent: string }) {
  const { view, agent } = props;
  if (view.hello === null) return <p class="note waiting">Connecting to the host …</p>;
  const questions = view.questions.filter((question) => question.session === null);
  return (
    <main class="no-session">
      <p class="note">No session is open.</p>
      <Questions questions={questions} />
      {view.login !== null && view.login.canLogIn && questions.length === 0 && <Account login={view.login} agent={agent} />}
      {view.offers.list && <KeptSessions offers={view.offers} sessions={view.sessions} cwd={view.hello.cwd ?? ""} />}
    </main>
  );
}

/** Gives the keyboard back to the prompt when what had it is gone: an answered question, a toast whose time is up. */
function useFocusKept(root: { current: HTMLElement | null }): (event: FocusEvent) => void {
  const focused = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (focused.current === null || focused.current.isConnected) return;
    focused.current = null;
    if (root.current === null || focusedBeside(root.current) !== null) return;
    (root.current.querySelector<HTMLElement>(".composer textarea:enabled") ?? root.current).focus();
  });
  return (event) => {
    focused.current = event.target as Element;
  };
}

function Session(props: { view: View; state: SessionState; agent: string }) {
  const { view, state, agent } = props;
  const questions = useMemo(
    () =>
      view.questions.filter(
        ({ session }) => session === null || sessionOf(view.sessions, session) === sessionOf(view.sessions, state.sessionId),
      ),
    [view.questions, view.sessions, state.sessionId],
  );
  const frame = useRef<HTMLDivElement>(null);
  const subagent = view.sessions.find((session) => session.id === state.sessionId && session.parent != null);
  const narrow = useNarrow(frame);
  const [wanted, setWanted] = useKept<boolean | null>("panels shown", null);
  const panels = wanted ?? !narrow;
  return (
    <div ref={frame} class={panels ? "session" : "session without-panels"}>
      <main class="conversation">
        {subagent !== undefined && <SubagentBar session={subagent} sessions={view.sessions} />}
        <Transcript
          entries={state.transcript.entries}
          first={state.transcript.first}
          terminals={state.terminals}
          busy={state.turn.activity}
          connected={view.connected === "open"}
        />
        <Toasts toasts={state.notices.toasts} />
        <TurnLine turn={state.turn} agent={agent} questions={questions.length} />
        <Questions questions={questions} />
        <Injections injections={state.injections} />
        <div class="session-bar">
          <Options options={state.options} />
          <UsageMeter usage={state.usage} />
          <button type="button" class="quiet" aria-expanded={panels} onClick={() => setWanted(!panels)}>
            Panels
          </button>
        </div>
        {subagent === undefined ? (
          <Composer commands={state.commands} turn={state.turn} offers={view.offers} />
        ) : (
          <p class="note no-prompt">Subagents take no prompts; the agent leads them.</p>
        )}
      </main>
      {panels && (
        <SidePanel
          state={state}
          diagnostics={view.diagnostics}
          agent={agent}
          sessions={view.sessions}
          offers={view.offers}
          login={view.login}
          cwd={view.hello?.cwd ?? ""}
          isSubagent={subagent !== undefined}
        />
      )}
    </div>
  );
}

/** Tells whether there is no room for the panels beside the conversation; the style sheet has the same width. */
function useNarrow(place: { current: HTMLElement | null }): boolean {
  const [narrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const measure = () => setNarrow(place.current !== null && place.current.clientWidth <= NARROW);
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(place.current!);
    return () => sizes.disconnect();
  }, []);
  return narrow;
}

/** What goes on, in words; a screen reader hears of each change. */
function TurnLine(props: { turn: Turn; agent: string; questions: number }) {
  const { turn, agent } = props;
  const words =
    props.questions > 0
      ? `${agent} waits for you: ${props.questions} ${props.questions === 1 ? "question" : "questions"}.`
      : turn.status === "running"
        ? `${agent} is at work${turn.origin === "agent" ? " by itself" : ""} …`
        : turn.activity
          ? `${agent} goes on between turns …`
          : turn.outcome !== null
            ? `Turn ${turn.turn}: ${oneLine(turn.outcome, 40)}${turn.detail ? `, ${oneLine(turn.detail)}` : ""}`
            : "";
  return (
    <p class={`turn-line turn-${turn.activity ? "active" : "idle"}`} role="status">
      {words}
    </p>
  );
}

/** What was said to the agent while it works and has not reached the model yet. */
function Injections(props: { injections: SessionState["injections"] }) {
  const waiting = Object.entries(props.injections).filter(([, one]) => one.status !== "delivered" && one.status !== "revoked");
  if (waiting.length === 0) return null;
  return (
    <ul class="injections" aria-label="On their way to the agent">
      {waiting.map(([id, one]) => (
        <li key={id} class="tag">
          {oneLine(one.content.map((block) => String(block.text ?? block.type)).join(" "), 120)} ({oneLine(one.status, 20)})
        </li>
      ))}
    </ul>
  );
}

/** F6 goes round the areas of the view, Shift+F6 the other way. */
function goToNextArea(event: KeyboardEvent, root: HTMLElement): void {
  if (event.key !== "F6") return;
  event.preventDefault();
  const areas = [...root.querySelectorAll<HTMLElement>("[data-area]")].filter((area) => first(area) !== null);
  const current = areas.findIndex((area) => area.contains(focusedBeside(root)));
  const next = areas[(current + (event.shiftKey ? -1 : 1) + areas.length) % areas.length];
  if (next !== undefined) first(next)?.focus();
}

function first(area: HTMLElement): HTMLElement | null {
  if (area.tabIndex >= 0) return area;
  return area.querySelector<HTMLElement>("textarea:enabled, button:enabled, select:enabled, input:enabled, a[href], [tabindex='0']");
}
