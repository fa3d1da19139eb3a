/** What can be set about the session, and how full the model's context is. */
import { amountText } from "../amounts";
import { oneLine } from "../plain_text";
import type { Choice, SessionOption, SessionState, Usage } from "../state";
import { memo, useCommand, useView } from "./context";
import { useFirst } from "./parts";

const MOST_OPTIONS = 20;
/** Choices of an option that are listed; models by the hundred are nothing unusual. */
const MOST_CHOICES = 1_000;

export const Options = memo(function Options(props: { options: SessionState["options"] }) {
  const [shown, more] = useFirst(props.options.entries, MOST_OPTIONS, "options", "options");
  return (
    <div class="options" role="group" aria-label="Options" data-area>
      {shown.map((option) => (
        <Option key={option.id} option={option} />
      ))}
      {more}
    </div>
  );
});

const Option = memo(function Option(props: { option: SessionOption }) {
  const { option } = props;
  const { controls } = useView();
  const command = useCommand();
  const set = (value: string | boolean) => command("set_option", { option: option.id, value });
  const title = option.description ? oneLine(option.description) : undefined;
  const busy = option.pending !== null;
  return (
    <label class="option" title={title} aria-busy={busy}>
      <span>{oneLine(option.name, 40)}</span>
      {option.kind === "boolean" ? (
        <input
          type="checkbox"
          checked={option.value === true}
          disabled={!controls}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      ) : option.kind === "select" ? (
        <select
          aria-label={oneLine(option.name, 40)}
          value={String(option.value ?? "")}
          disabled={!controls}
          onChange={(event) => set(event.currentTarget.value)}
        >
          {groups(option.choices.slice(0, MOST_CHOICES)).map(([group, choices]) =>
            group === null ? choices.map(choiceItem) : <optgroup label={oneLine(group, 60)}>{choices.map(choiceItem)}</optgroup>,
          )}
          {option.choices.length > MOST_CHOICES && (
            <option disabled>{option.choices.length - MOST_CHOICES} more are not listed</option>
          )}
        </select>
      ) : (
        <output>{oneLine(String(option.value ?? ""), 60)}</output>
      )}
      {option.error !== null && <span class="problem">{oneLine(option.error)}</span>}
    </label>
  );
});

function choiceItem(choice: Choice) {
  return (
    <option key={choice.value} value={choice.value} title={choice.description ? oneLine(choice.description) : undefined}>
      {oneLine(choice.name, 60)}
    </option>
  );
}

/** Neighbours with the same heading belong together. */
function groups(choices: readonly Choice[]): [string | null, Choice[]][] {
  const found: [string | null, Choice[]][] = [];
  for (const choice of choices) {
    const last = found[found.length - 1];
    if (last !== undefined && last[0] === choice.group) last[1].push(choice);
    else found.push([choice.group, [choice]]);
  }
  return found;
}

export const UsageMeter = memo(function UsageMeter(props: { usage: Usage }) {
  const { used, size, cost } = props.usage;
  if (used === null && cost === null) return null;
  const share = used !== null && size ? Math.round((100 * used) / size) : null;
  return (
    <div class="usage" aria-label="Usage" role="group">
      {used !== null && (
        <>
          <meter min={0} max={100} high={90} low={70} optimum={0} value={share ?? 0} aria-label="Share of the context in use" />
          <span>
            {amountText(used)}
            {size !== null && ` of ${amountText(size)}`} tokens{share !== null && ` (${share} %)`}
          </span>
        </>
      )}
      {cost !== null && (
        <span>
          {amountText(cost.amount)} {oneLine(cost.currency, 8)}
        </span>
      )}
    </div>
  );
});
