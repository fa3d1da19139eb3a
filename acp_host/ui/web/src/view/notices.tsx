/** Notices: toasts over the conversation, and the history. How long a toast stays is the host's business: it leaves the state. */
import { oneLine, printable } from "../plain_text";
import type { Notice, SessionState } from "../state";
import { useEffect, useRef } from "preact/hooks";
import { memo, useCommand, useView } from "./context";

/** Toasts, and two live regions in which a screen reader hears of them. Both are always there, or it would hear nothing. */
export const Toasts = memo(function Toasts(props: { toasts: readonly Notice[] }) {
  const newest = (politeness: string) => {
    const found = props.toasts.filter((toast) => (toast.presentation.politeness === "assertive") === (politeness === "assertive"));
    return found[found.length - 1];
  };
  return (
    <>
      <div class="toasts" role="group" aria-label="Notices" data-area {...useHeld(props.toasts.length > 0)}>
        {props.toasts.toReversed().map((toast) => (
          <Toast key={toast.id} toast={toast} />
        ))}
      </div>
      <div class="unseen" role="status" aria-live="polite">
        {spoken(newest("polite"))}
      </div>
      <div class="unseen" role="alert" aria-live="assertive">
        {spoken(newest("assertive"))}
      </div>
    </>
  );
});

/** Lets toasts stay while the mouse or the keyboard is on them: who reads slowly can read them all. */
function useHeld(any: boolean) {
  const { store, session } = useView();
  const by = useRef(new Set<string>()).current;
  const held = useRef(false);
  const tell = () => {
    const hold = by.size > 0;
    if (hold === held.current) return;
    held.current = hold;
    store.command("hold_notices", { session, hold }).catch(() => {});
  };
  const letGo = () => {
    by.clear();
    tell();
  };
  const set = (what: string, on: boolean) => {
    if (on) by.add(what);
    else by.delete(what);
    tell();
  };
  // What has left is not under the mouse any more, and browsers do not say so.
  useEffect(() => {
    if (!any) letGo();
  }, [any]);
  useEffect(() => letGo, []);
  return {
    onMouseEnter: () => set("mouse", true),
    onMouseLeave: () => set("mouse", false),
    onFocusIn: () => set("focus", true),
    onFocusOut: () => set("focus", false),
  };
}

function spoken(toast: Notice | undefined): string {
  if (toast === undefined) return "";
  return [toast.agentName, toast.severity, toast.displayTitle, toast.displayDescription ?? ""].map((text) => printable(text)).join(". ");
}

const LOOKS = new Set(["info", "warning", "error"]);

function look(notice: Notice): string {
  return `look-${LOOKS.has(notice.presentation.look) ? notice.presentation.look : "neutral"}`;
}

const Toast = memo(function Toast(props: { toast: Notice }) {
  const { toast } = props;
  const { controls } = useView();
  const command = useCommand();
  return (
    <div class={`toast ${look(toast)}`} data-notice={toast.id}>
      <p class="toast-name">
        {oneLine(toast.agentName, 80)} <span class="severity">{oneLine(toast.severity, 24)}</span>
        {toast.count > 1 && <span class="badge">{toast.count} times</span>}
      </p>
      <p class="toast-title" dir="auto">
        {printable(toast.displayTitle)}
      </p>
      {toast.displayDescription && (
        <p class="plain" dir="auto">
          {printable(toast.displayDescription)}
        </p>
      )}
      {controls && (
        <button
          type="button"
          class="quiet"
          aria-label={`Dismiss: ${oneLine(toast.displayTitle, 60)}`}
          onClick={() => command("dismiss_notice", { notice: toast.id })}
        >
          ×
        </button>
      )}
    </div>
  );
});

const MOST_SHOWN = 200;

/** All notices that are kept, newest first. */
export const NoticeHistory = memo(function NoticeHistory(props: { notices: SessionState["notices"] }) {
  const { history, total } = props.notices;
  if (history.length === 0) return <p class="note">The agent has sent no notice.</p>;
  return (
    <>
      <p class="note">
        {Math.min(history.length, MOST_SHOWN)} of {total}, newest first
      </p>
      <ul class="cards" aria-label="Notices so far">
        {history
          .slice(-MOST_SHOWN)
          .reverse()
          .map((notice) => (
            <HistoryItem key={notice.id} notice={notice} />
          ))}
      </ul>
    </>
  );
});

const HistoryItem = memo(function HistoryItem(props: { notice: Notice }) {
  const { notice } = props;
  const became = notice.suppressedBy ? `not shown: ${notice.suppressedBy}` : (notice.state ?? "");
  return (
    <li class={`card ${look(notice)}`}>
      <p class="toast-name">
        {oneLine(notice.agentName, 80)} <span class="severity">{oneLine(notice.severity, 24)}</span>
      </p>
      <p class="toast-title" dir="auto">
        {printable(notice.displayTitle)}
      </p>
      {notice.displayDescription && <p class="plain">{printable(notice.displayDescription)}</p>}
      <p class="note">
        <time>{new Date(notice.received * 1000).toLocaleTimeString("en-GB")}</time> {became.replaceAll("_", " ")}
        {notice.duringReplay && " · from the history"}
      </p>
    </li>
  );
});
