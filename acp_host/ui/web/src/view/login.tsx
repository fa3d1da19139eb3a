/** Logging in: the ways that the agent offers, as it asks for them or as the user looks for them. */
import type { TargetedEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { LoginState, LoginWay } from "../feed";
import { oneLine, printable } from "../plain_text";
import { memo, useCommand, useView } from "./context";
import { Address, Status } from "./parts";

/** Ways to log in, each with what it needs. `choose` tells whether it was taken. */
export function LoginWays(props: {
  ways: readonly LoginWay[];
  choose: (way: LoginWay, values: { [name: string]: string }) => Promise<boolean>;
}) {
  if (props.ways.length === 0) {
    return <p class="note">It offers no way to log in from here. Log in with its own program, and try again.</p>;
  }
  return (
    <ul class="cards" aria-label="Ways to log in">
      {props.ways.map((way) => (
        <Way key={way.id} way={way} choose={props.choose} />
      ))}
    </ul>
  );
}

function Way(props: { way: LoginWay; choose: (way: LoginWay, values: { [name: string]: string }) => Promise<boolean> }) {
  const { way } = props;
  const { controls, id } = useView();
  const [busy, setBusy] = useState(false);

  // The fields keep what is typed, and nothing else does: it is secret.
  async function submit(event: TargetedEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = [...form.querySelectorAll<HTMLInputElement>("input[data-variable]")];
    const values = Object.fromEntries(fields.map((field) => [field.dataset.variable!, field.value]));
    setBusy(true);
    if (await props.choose(way, values)) form.reset();
    setBusy(false);
  }

  return (
    <li class="card">
      <form onSubmit={submit} autocomplete="off">
        <strong>{oneLine(way.name, 120)}</strong>
        {way.description && <p class="plain">{printable(way.description)}</p>}
        {way.kind === "terminal" && <TerminalWay command={way.command} />}
        {way.link && (
          <p class="note">
            The values come from <Address address={way.link} />
          </p>
        )}
        {way.variables.map((variable) => (
          <div key={variable.name} class="field">
            <label for={id(`login-${way.id}-${variable.name}`)}>
              {oneLine(variable.label, 80)}
              {!variable.optional && <span class="required"> (required)</span>}
            </label>
            <input
              id={id(`login-${way.id}-${variable.name}`)}
              data-variable={variable.name}
              {...(variable.secret ? { type: "password" as const } : { type: "text" as const })}
              autocomplete="off"
              spellcheck={false}
              required={!variable.optional}
              disabled={!controls || busy}
            />
          </div>
        ))}
        {way.unavailable ? (
          <p class="note">Not possible now: {printable(way.unavailable)}.</p>
        ) : (
          <div class="answers">
            <button type="submit" class="primary" disabled={!controls || busy}>
              {busy ? "Logging in …" : "Log in"}
            </button>
          </div>
        )}
      </form>
    </li>
  );
}

function TerminalWay(props: { command: string | null }) {
  return (
    <>
      <p class="note">This login happens in a terminal, which a page is not.{props.command !== null && " Type there:"}</p>
      {props.command !== null && <pre class="command">{printable(props.command)}</pre>}
    </>
  );
}

/** Who is logged in, and the ways to do so unasked. */
export const Account = memo(function Account(props: { login: LoginState; agent: string }) {
  const { login, agent } = props;
  const { store, controls, failed } = useView();
  const command = useCommand();
  const [ways, setWays] = useState<readonly LoginWay[] | null>(null);
  useEffect(() => {
    if (!login.canLogIn || !controls) return setWays(null);
    store.command("list_logins").then(
      (value) => setWays((value as unknown as { methods: LoginWay[] }).methods ?? []),
      (error: Error) => failed(error.message),
    );
  }, [login, controls]);
  return (
    <section aria-label="Account">
      <p>
        {agent}: <Status word={login.state} />
        {login.loggingIn && <span class="note"> a login is going on …</span>}
      </p>
      <ul class="cards">
        {login.accounts.map((account, index) => (
          <li key={index} class="card">
            {Object.values(account)
              .filter((value) => typeof value === "string")
              .map((value) => oneLine(value as string, 80))
              .join(" · ")}
          </li>
        ))}
      </ul>
      {login.canLogOut && login.state !== "unauthenticated" && (
        <button type="button" class="quiet" disabled={!controls} onClick={() => command("log_out")}>
          Log out
        </button>
      )}
      {ways !== null && login.state !== "authenticated" && (
        <LoginWays
          ways={ways}
          choose={(way, values) => command("log_in", { login: way.id, ...(way.variables.length > 0 && { values }) })}
        />
      )}
    </section>
  );
});
