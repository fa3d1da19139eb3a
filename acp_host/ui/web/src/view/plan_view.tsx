/** The agent's plans. */
import { oneLine, printable } from "../plain_text";
import type { Plan } from "../state";
import { memo } from "./context";
import { MarkdownText } from "./markdown_text";
import { Address, Raw, Status, useFirst } from "./parts";

const MOST_ITEMS = 200;

const MARKS: { [status: string]: string } = { completed: "✓", in_progress: "▶", pending: "○" };

export const Plans = memo(function Plans(props: { plans: readonly Plan[] }) {
  if (props.plans.length === 0) return <p class="note">The agent has told no plan.</p>;
  return (
    <>
      {props.plans.map((plan) => (
        <PlanView key={plan.planId ?? ""} plan={plan} />
      ))}
    </>
  );
});

interface Item {
  content: string;
  priority: string;
  status: string;
}

const PlanView = memo(function PlanView(props: { plan: Plan }) {
  const { content } = props.plan;
  switch (content.type) {
    case "items":
      return <Items items={(content.entries ?? []) as unknown as Item[]} name={props.plan.planId ?? ""} />;
    case "markdown":
      return <MarkdownText segments={[String(content.content ?? "")]} />;
    case "file":
      return (
        <p>
          The plan is in <Address address={String(content.uri ?? "")} />
        </p>
      );
    default:
      return (
        <>
          <Status word={content.type} />
          <Raw value={content} />
        </>
      );
  }
});

function Items(props: { items: readonly Item[]; name: string }) {
  const { items } = props;
  const [shown, more] = useFirst(items, MOST_ITEMS, `items of the plan ${props.name}`, "items");
  const done = items.filter((item) => item.status === "completed").length;
  return (
    <section class="plan">
      <p class="note">
        {done} of {items.length} done
      </p>
      <ol>
        {shown.map((item, index) => (
          <li key={index}>
            <span aria-hidden="true">{MARKS[item.status] ?? "?"}</span> {printable(item.content)}{" "}
            <span class="unseen">{oneLine(item.status.replaceAll("_", " "), 40)}</span>
            {item.priority === "high" && <span class="badge">high</span>}
          </li>
        ))}
      </ol>
      {more}
    </section>
  );
}
