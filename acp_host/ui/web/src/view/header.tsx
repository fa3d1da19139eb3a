/** The frame of the view: who the agent is, which session is shown, who may act, and whether all can be reached. */
import type { SessionName } from "../feed";
import { oneLine } from "../plain_text";
import type { View } from "../store";
import { useCommand, useView } from "./context";

export function Header(props: { view: View; agent: string }) {
  const { view } = props;
  const { store } = useView();
  const command = useCommand();
  const version = view.hello?.agent.version;
  return (
    <header class="top" data-area>
      <h1>
        {props.agent} {version && <small>{oneLine(version, 40)}</small>}
      </h1>
      {view.sessions.length > 0 && (
        <label>
          Session{" "}
          <select aria-label="Session" value={view.current ?? ""} onChange={(event) => store.show(event.currentTarget.value)}>
            {view.sessions
              .filter((session) => session.parent == null || session.id === view.current)
              .map((session) => (
                <option key={session.id} value={session.id}>
                  {oneLine(session.title || session.id, 60)}
                  {session.open === false && " (closed)"}
                  {session.id !== view.current && asksSomething(view, session.id) && " (waits for you)"}
                </option>
              ))}
          </select>
        </label>
      )}
      <NewSession />
      <Seat view={view} take={(take) => command("control", { take })} />
    </header>
  );
}

function asksSomething(view: View, session: string): boolean {
  return view.questions.some((question) => question.session !== null && sessionOf(view.sessions, question.session) === session);
}

/** Returns the session that a subagent belongs to; of any other, itself. */
export function sessionOf(sessions: readonly SessionName[], id: string): string {
  const parent = sessions.find((session) => session.id === id)?.parent;
  return parent == null ? id : sessionOf(sessions, parent);
}

function NewSession() {
  const { store, controls, failed } = useView();
  async function open() {
    try {
      const opened = await store.command("new_session");
      store.show((opened as { session: string }).session);
    } catch (error) {
      failed((error as Error).message);
    }
  }
  return (
    <button type="button" class="quiet" disabled={!controls} onClick={open}>
      New session
    </button>
  );
}

/** One viewer may act; the others look on. */
function Seat(props: { view: View; take: (take: boolean) => void }) {
  const { view } = props;
  const { controls } = useView();
  if (view.hello === null) return null;
  const others = view.viewers - 1;
  return (
    <div class="seat" role="group" aria-label="Control">
      <span role="status">
        {controls ? "You control the agent" : view.controller === null ? "Nobody controls the agent" : "You are looking on"}
        {others > 0 && `, ${others} more ${others === 1 ? "viewer" : "viewers"}`}
      </span>
      {view.hello.mayControl && (
        <button type="button" class="quiet" disabled={view.connected !== "open"} onClick={() => props.take(!controls)}>
          {controls ? "Give away" : "Take control"}
        </button>
      )}
    </div>
  );
}

const IN_ORDER = new Set(["connected", "idle", "open"]);

/** Says what cannot be reached, and why. Empty where all is well, so that a screen reader hears of the change. */
export function HealthBanner(props: { view: View }) {
  const words = trouble(props.view);
  return (
    <div class={words ? "health trouble" : "health"} role="status">
      {words}
    </div>
  );
}

function trouble(view: View): string {
  if (view.connected === "lost") return "The connection to the host was lost. It is tried again; what is shown may be old.";
  const health = view.state !== null && !IN_ORDER.has(view.state.health.status) ? view.state.health : view.health;
  if (health === null || IN_ORDER.has(health.status)) return "";
  const why = "detail" in health ? health.detail : health.error;
  return `The agent: ${oneLine(health.status.replaceAll("_", " "), 40)}${why ? `. ${oneLine(why)}` : ""}`;
}
