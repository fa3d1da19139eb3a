/** The fields of a form, and the answer that is made of them. The host checks it; what it finds wrong stands at the field. */
import { useState } from "preact/hooks";
import type { Field, FormQuestion } from "../feed";
import type { Json } from "../json_patch";
import { oneLine, printable } from "../plain_text";
import { useView } from "./context";

/** By the names of fields, which are the agent's: `__proto__` may be one. */
type Values = ReadonlyMap<string, Json>;

export function FormFields(props: { question: FormQuestion }) {
  const { question } = props;
  const { store, controls, failed, id } = useView();
  const [values, setValues] = useState<Values>(() => new Map(Object.entries(question.values)));
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());

  async function answer(action: string) {
    const content = action === "accept" ? { content: filled(values) } : {};
    try {
      const result = await store.command("answer", { question: question.number, action, ...content });
      const errors = (result as { errors?: { name: string; message: string }[] } | null)?.errors ?? [];
      setProblems(new Map(errors.map((error) => [error.name, error.message])));
    } catch (error) {
      failed((error as Error).message);
    }
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void answer("accept");
      }}
    >
      {question.title && <p class="question-title">{oneLine(question.title)}</p>}
      <p dir="auto">{printable(question.message)}</p>
      {question.description && <p class="note">{printable(question.description)}</p>}
      <fieldset disabled={!controls}>
        {question.fields.map((field, index) => (
          <FieldView
            key={field.name}
            id={id(`field-${question.number}-${index}`)}
            field={field}
            value={values.get(field.name) ?? null}
            problem={problems.get(field.name)}
            set={(value) => setValues((before) => new Map(before).set(field.name, value))}
          />
        ))}
        {question.problems.map((problem) => (
          <p key={problem} class="note">
            {printable(problem)}
          </p>
        ))}
        <div class="answers">
          <button type="submit" class="primary">
            Send
          </button>
          <button type="button" class="danger" onClick={() => answer("decline")}>
            Decline
          </button>
          <button type="button" onClick={() => answer("cancel")}>
            Not now
          </button>
        </div>
      </fieldset>
    </form>
  );
}

/** What was left empty is not sent. */
function filled(values: Values): { [name: string]: Json } {
  return Object.fromEntries([...values].filter(([, value]) => value !== null && value !== ""));
}

interface FieldProps {
  id: string;
  field: Field;
  value: Json;
  problem: string | undefined;
  set: (value: Json) => void;
}

function FieldView(props: FieldProps) {
  const { field, id } = props;
  return (
    <div class="field">
      <label for={id}>
        {printable(field.label)}
        {field.required && <span class="required"> (required)</span>}
      </label>
      {field.description && (
        <p class="note" id={`${id}-more`}>
          {printable(field.description)}
        </p>
      )}
      <Control {...props} />
      {props.problem && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {printable(props.problem)}
        </p>
      )}
    </div>
  );
}

function Control({ field, id, value, set, problem }: FieldProps) {
  const common = {
    id,
    "aria-required": field.required,
    "aria-invalid": problem !== undefined,
    "aria-describedby": [field.description && `${id}-more`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined,
  };
  const text = {
    ...common,
    maxLength: field.maxLength ?? undefined,
    autocomplete: "off" as const,
    value: String(value ?? ""),
    onInput: (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value),
  };
  switch (field.kind) {
    case "boolean":
      return <input type="checkbox" {...common} checked={value === true} onChange={(event) => set(event.currentTarget.checked)} />;
    case "choice":
      return (
        <select {...common} value={String(value ?? "")} onChange={(event) => set(event.currentTarget.value || null)}>
          <option value="">–</option>
          {field.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {printable(choice.label)}
              {choice.description && ` – ${printable(choice.description)}`}
            </option>
          ))}
        </select>
      );
    case "multi-choice":
      return <Several {...{ field, id, value, set }} describedBy={common["aria-describedby"]} />;
    case "unknown":
      return <p class="note">A field of a kind that is not known here; it is left out.</p>;
    case "number":
    case "integer":
      return (
        <input
          {...common}
          type="number"
          step={field.kind === "integer" ? 1 : "any"}
          min={field.minimum ?? undefined}
          max={field.maximum ?? undefined}
          value={typeof value === "number" ? value : ""}
          onInput={({ currentTarget: input }) => set(input.value === "" ? null : input.valueAsNumber)}
        />
      );
    case "email":
      return <input type="email" {...text} />;
    case "uri":
      return <input type="url" {...text} />;
    case "date":
      return <input type="date" {...text} />;
    default:
      return <input type="text" {...text} />;
  }
}

function Several({ field, id, value, set, describedBy }: Omit<FieldProps, "problem"> & { describedBy: string | undefined }) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <div id={id} role="group" aria-label={printable(field.label)} aria-describedby={describedBy}>
      {field.choices.map((choice) => (
        <label key={choice.value} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(choice.value)}
            onChange={(event) =>
              set(event.currentTarget.checked ? [...chosen, choice.value] : chosen.filter((one) => one !== choice.value))
            }
          />{" "}
          {printable(choice.label)}
          {choice.description && ` – ${printable(choice.description)}`}
        </label>
      ))}
    </div>
  );
}
