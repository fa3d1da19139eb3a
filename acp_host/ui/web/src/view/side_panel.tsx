/** What stands beside the conversation, one panel at a time: a list of tabs by the rules of ARIA. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Diagnostic, LoginState, Offers, SessionName } from "../feed";
import type { SessionState } from "../state";
import { memo, useKept, useView } from "./context";
import { HarnPanel } from "./harn_view";
import { KeptSessions } from "./kept_sessions";
import { Account } from "./login";
import { NoticeHistory } from "./notices";
import { Plans } from "./plan_view";
import { NOT_SERVED, Problems } from "./problems";
import { Reminders } from "./reminders";
import { Subagents } from "./subagents";
import { Terminals } from "./terminal_view";

interface Panel {
  id: string;
  title: string;
  count: number;
  draw: () => ComponentChildren;
}

interface Shown {
  state: SessionState;
  diagnostics: readonly Diagnostic[];
  agent: string;
  sessions: readonly SessionName[];
  offers: Offers;
  login: LoginState | null;
  cwd: string;
  isSubagent: boolean;
}

export const SidePanel = memo(function SidePanel(props: Shown) {
  const { id } = useView();
  const [chosen, choose] = useKept("panel", "reminders");
  const tabs = useRef<HTMLDivElement>(null);
  const panels = panelsOf(props);
  const current = panels.find((panel) => panel.id === chosen) ?? panels[0]!;

  function onKeyDown(event: KeyboardEvent) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = panels[(panels.indexOf(current) + step + panels.length) % panels.length]!;
    choose(next.id);
    tabs.current?.querySelector<HTMLElement>(`[data-panel="${next.id}"]`)?.focus();
  }

  return (
    <aside class="side" aria-label="Panels">
      <div ref={tabs} class="tabs" role="tablist" onKeyDown={onKeyDown} data-area>
        {panels.map((panel) => (
          <button
            type="button"
            key={panel.id}
            id={id(`tab-${panel.id}`)}
            data-panel={panel.id}
            role="tab"
            aria-selected={panel === current}
            aria-controls={id("panel")}
            tabIndex={panel === current ? 0 : -1}
            onClick={() => choose(panel.id)}
          >
            {panel.title}
            {panel.count > 0 && <span class="badge">{panel.count}</span>}
          </button>
        ))}
      </div>
      <div class="panel" id={id("panel")} role="tabpanel" aria-labelledby={id(`tab-${current.id}`)} tabIndex={0}>
        {current.draw()}
      </div>
    </aside>
  );
});

function panelsOf(shown: Shown): Panel[] {
  const { state, diagnostics, agent, sessions, offers, login } = shown;
  const subagents = Object.keys(state.subagents).length;
  const { harn } = state;
  const reminders: Panel = {
    id: "reminders",
    title: "Reminders",
    count: state.reminders.entries.filter((entry) => entry.active).length,
    draw: () => <Reminders reminders={state.reminders} />,
  };
  const panels: Panel[] = [
    ...(shown.isSubagent ? [] : [reminders]),
    { id: "plan", title: "Plan", count: state.plans.length, draw: () => <Plans plans={state.plans} /> },
    {
      id: "terminals",
      title: "Terminals",
      count: Object.keys(state.terminals).length,
      draw: () => <Terminals terminals={state.terminals} />,
    },
    {
      id: "notices",
      title: "Notices",
      count: state.notices.total,
      draw: () => <NoticeHistory notices={state.notices} />,
    },
    {
      id: "problems",
      title: "Problems",
      count: diagnostics.filter((diagnostic) => diagnostic.kind === NOT_SERVED).length,
      draw: () => <Problems diagnostics={diagnostics} agent={agent} />,
    },
  ];
  if (subagents > 0) {
    panels.push({ id: "subagents", title: "Subagents", count: subagents, draw: () => <Subagents subagents={state.subagents} sessions={sessions} /> });
  }
  if (harn !== null) panels.push({ id: "harn", title: "Harn", count: 0, draw: () => <HarnPanel harn={harn} /> });
  if (shown.isSubagent) return panels;
  if (offers.list) {
    const draw = () => <KeptSessions offers={offers} sessions={sessions} cwd={shown.cwd} />;
    panels.push({ id: "sessions", title: "Sessions", count: 0, draw });
  }
  if (login !== null && (login.canLogIn || login.canLogOut)) {
    panels.push({ id: "account", title: "Account", count: 0, draw: () => <Account login={login} agent={agent} /> });
  }
  return panels;
}
