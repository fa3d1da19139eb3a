/** The reminders panel: what was told to the model without the user's typing it, and a form to tell it more. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { oneLine, printable } from "../plain_text";
import type { Reminder, SessionState } from "../state";
import { memo, useCommand, useKept, useKeptOfSession, useView } from "./context";
import { Fold, Status, useFirst } from "./parts";

const REVOCABLE = new Set(["queued", "sending", "pending", "emitted", "uncertain", "sidebar", "suppressed"]);
const PLAN_DELAY = 200;
const MOST_CARDS = 200;

export const Reminders = memo(function Reminders(props: { reminders: SessionState["reminders"] }) {
  const { entries } = props.reminders;
  const [tag, setTag] = useKeptOfSession("reminder tag", "");
  const [status, setStatus] = useKept("reminder status", "active");
  const tags = useMemo(() => [...new Set(entries.flatMap((entry) => entry.tags))].sort(), [entries]);
  const statuses = useMemo(() => [...new Set(entries.map((entry) => entry.status))].sort(), [entries]);
  const fitting = entries.filter((entry) => (tag === "" || entry.tags.includes(tag)) && fits(entry, status));
  const [newest, more] = useFirst(fitting.toReversed(), MOST_CARDS, "reminders", "reminders");
  return (
    <>
      <Compose />
      <div class="filters" role="group" aria-label="Filter">
        <label>
          Tag{" "}
          <select aria-label="Tag" value={tag} onChange={(event) => setTag(event.currentTarget.value)}>
            <option value="">all</option>
            {tags.map((one) => (
              <option key={one} value={one}>
                {oneLine(one, 40)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Status{" "}
          <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
            <option value="active">active</option>
            <option value="">all</option>
            {statuses.map((one) => (
              <option key={one} value={`is ${one}`}>
                {oneLine(one.replaceAll("_", " "), 40)}
              </option>
            ))}
          </select>
        </label>
        <span class="note">
          {fitting.length} of {entries.length}
        </span>
      </div>
      {more}
      <ul class="cards" aria-label="Reminders">
        {newest.toReversed().map((entry) => (
          <Card key={entry.id} entry={entry} />
        ))}
      </ul>
    </>
  );
});

function fits(entry: Reminder, status: string): boolean {
  return status === "" || (status === "active" ? entry.active : status === `is ${entry.status}`);
}

const Card = memo(function Card(props: { entry: Reminder }) {
  const { entry } = props;
  const { controls } = useView();
  const command = useCommand();
  return (
    <li class={entry.active ? "card" : "card over"} data-reminder={entry.id}>
      <div class="card-head">
        <Status word={entry.status} />
        {entry.rung !== null && <span class="badge">by {oneLine(entry.rung.replaceAll("_", " "), 40)}</span>}
        {entry.origin !== null && entry.origin !== "host" && <span class="badge">from {oneLine(entry.origin, 40)}</span>}
        {entry.estimated && <span class="badge">estimated</span>}
        {entry.replayed && <span class="badge">from the history</span>}
        {entry.tags.map((tag) => (
          <span key={tag} class="tag">
            {oneLine(tag, 40)}
          </span>
        ))}
      </div>
      <p class="plain" dir="auto">
        {printable(entry.body) || "(its text was never told)"}
      </p>
      <p class="note">{facts(entry).join(" · ")}</p>
      {entry.error !== null && <p class="problem">{printable(entry.error.message)}</p>}
      {entry.adjustments.length > 0 && (
        <Fold name={`adjusted ${entry.id}`} summary={`${entry.adjustments.length} adjusted`}>
          {() => entry.adjustments.map((one) => <p key={one.field} class="note">{adjusted(one)}</p>)}
        </Fold>
      )}
      {entry.active && controls && (
        <div class="answers">
          {REVOCABLE.has(entry.status) && (
            <button type="button" class="quiet" onClick={() => command("revoke_reminder", { reminder: entry.id })}>
              Revoke
            </button>
          )}
          {entry.status === "sidebar" && (
            <button type="button" class="quiet" onClick={() => command("dismiss_reminder", { reminder: entry.id })}>
              Dismiss
            </button>
          )}
        </div>
      )}
    </li>
  );
});

function facts(entry: Reminder): string[] {
  const found = [];
  if (entry.timesEmitted > 0) found.push(`shown to the model ${entry.timesEmitted} times`);
  if (entry.ttlLeft !== null) found.push(`${entry.ttlLeft} of ${entry.ttlTurns ?? "?"} turns left`);
  if (entry.dedupeKey !== null) found.push(`key ${oneLine(entry.dedupeKey, 40)}`);
  if (entry.replacedBy !== null) found.push("replaced by a newer one");
  return found;
}

function adjusted(one: Reminder["adjustments"][number]): string {
  return printable(`${one.field}: asked ${one.asked}, sent ${one.sent ?? "nothing"}. ${one.reason}`);
}

interface Step {
  rung: string;
  available: boolean;
  reason: string;
  adjustments: Reminder["adjustments"];
}

/** A form for a reminder, with the ladder that it would take. */
function Compose() {
  const { controls, store } = useView();
  const command = useCommand();
  const [body, setBody] = useKeptOfSession("reminder body", "");
  const [tags, setTags] = useKeptOfSession("reminder tags", "");
  const [turns, setTurns] = useKeptOfSession("reminder turns", "");
  const [asMessage, setAsMessage] = useKeptOfSession("reminder as message", false);
  const [plan, setPlan] = useState<readonly Step[]>([]);
  const reminder = () => ({
    body: body.trim(),
    tags: tags.split(/[,\s]+/).filter((tag) => tag !== ""),
    ...(Number(turns) >= 1 && { ttlTurns: Math.floor(Number(turns)) }),
    ...(asMessage && { policy: { rungs: ["inject_reminder", "remind", "prefixed_user_message", "sidebar"] } }),
  });

  useEffect(() => {
    if (body.trim() === "") return setPlan([]);
    let current = true;
    const timer = setTimeout(() => {
      store.command("plan_reminder", reminder()).then(
        (value) => current && setPlan((value as unknown as { steps: Step[] }).steps),
        () => current && setPlan([]),
      );
    }, PLAN_DELAY);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [body, tags, turns, asMessage]);

  return (
    <form
      class="compose"
      aria-label="New reminder"
      onSubmit={(event) => {
        event.preventDefault();
        if (body.trim() === "") return;
        void command("remind", reminder()).then((sent) => sent && setBody(""));
      }}
    >
      <textarea
        rows={2}
        value={body}
        disabled={!controls}
        aria-label="Reminder for the model"
        placeholder="Tell the model something, without a prompt"
        onInput={(event) => setBody(event.currentTarget.value)}
      />
      <div class="compose-row">
        <label>
          Tags <input size={12} value={tags} disabled={!controls} onInput={(event) => setTags(event.currentTarget.value)} />
        </label>
        <label>
          Turns{" "}
          <input
            type="number"
            min={1}
            value={turns}
            disabled={!controls}
            onInput={(event) => setTurns(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={!controls || body.trim() === ""}>
          Remind
        </button>
      </div>
      <label class="note">
        <input
          type="checkbox"
          checked={asMessage}
          disabled={!controls}
          onChange={(event) => setAsMessage(event.currentTarget.checked)}
        />{" "}
        if there is no better way, put it, marked, before the next prompt
      </label>
      {plan.length > 0 && <Plan steps={plan} />}
    </form>
  );
}

function Plan(props: { steps: readonly Step[] }) {
  const taken = props.steps.findIndex((step) => step.available);
  return (
    <ol class="ladder" aria-label="How it would travel">
      {props.steps.map((step, index) => (
        <li key={step.rung} class={index === taken ? "taken" : step.available ? "" : "unavailable"}>
          <strong>{oneLine(step.rung.replaceAll("_", " "), 60)}</strong>
          {index === taken && <span class="badge">this one</span>} {printable(step.reason)}
          {step.adjustments.map((one) => (
            <span key={one.field} class="note">
              {" "}
              {adjusted(one)}
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}
