/**
 * What waits for the user: permissions, forms, web pages. The frame and the name in it are the host's; what the agent says
 * stands within, and cannot reach them.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LoginQuestion, PageQuestion, PermissionQuestion, Question } from "../feed";
import { oneLine, printable } from "../plain_text";
import { memo, useCommand, useView } from "./context";
import { FormFields } from "./form_fields";
import { LoginWays } from "./login";
import { Address, Fold, Raw, useFirst } from "./parts";

const MOST_QUESTIONS = 20;
const MOST_PATHS = 100;

export const Questions = memo(function Questions(props: { questions: readonly Question[] }) {
  const [shown, more] = useFirst(props.questions, MOST_QUESTIONS, "questions", "questions");
  if (props.questions.length === 0) return null;
  return (
    <section class="questions" aria-label="Waiting for you" data-area>
      {shown.map((question) => (
        <QuestionView key={question.number} question={question} />
      ))}
      {more}
    </section>
  );
});

const QuestionView = memo(function QuestionView(props: { question: Question }) {
  const { question } = props;
  switch (question.kind) {
    case "permission":
      return <Permission question={question} />;
    case "form":
      return (
        <Frame question={question} asks="asks you to fill in a form">
          <FormFields question={question} />
        </Frame>
      );
    case "page":
      return <Page question={question} />;
    case "login":
      return <Login question={question} />;
    default:
      return (
        <Frame question={question} asks="asks for something that cannot be answered here">
          <p class="note">What it sent stands below.</p>
        </Frame>
      );
  }
});

function Frame(props: { question: Question; asks: string; children: ComponentChildren }) {
  const { question } = props;
  const frame = useRef<HTMLElement>(null);
  const { id, alone } = useView();
  const heading = id(`question-${question.number}`);
  // It is announced by the live region; the focus goes to it only where the user is not at work elsewhere.
  useEffect(() => {
    if (alone && document.activeElement === document.body) frame.current?.focus();
  }, []);
  return (
    <section ref={frame} class="question" role="group" aria-labelledby={heading} tabIndex={-1}>
      <h2 id={heading} class="frame-name">
        <strong>{oneLine(question.agent, 80)}</strong> {props.asks}
      </h2>
      <div class="question-body">{props.children}</div>
      {question.raw !== null && (
        <Fold name={`raw question ${question.number}`} summary="The request as it came">
          {() => <Raw value={question.raw} />}
        </Fold>
      )}
    </section>
  );
}

function Permission(props: { question: PermissionQuestion }) {
  const { question } = props;
  const { controls } = useView();
  const command = useCommand();
  const [remember, setRemember] = useState("");
  const [paths, more] = useFirst(question.paths, MOST_PATHS, `paths of question ${question.number}`, "files");
  const answer = (answer: { [name: string]: unknown }) => command("answer", { question: question.number, ...answer });
  const asks = question.hostsOwn ? "wants to do this and has not asked: the host does" : "asks for permission";
  return (
    <Frame question={question} asks={asks}>
      <p class="question-title">{oneLine(question.title, 600)}</p>
      {question.summary && question.summary !== question.title && <p>{printable(question.summary)}</p>}
      {question.command !== null && <pre class="command">{printable(question.command)}</pre>}
      {paths.length > 0 && (
        <ul class="paths">
          {paths.map((path) => (
            <li key={path}>
              <code>{printable(path)}</code>
            </li>
          ))}
        </ul>
      )}
      {more}
      {question.hidesEdit && <p class="problem">It is about a change of files that it does not show.</p>}
      {question.reason && <p class="note">{printable(question.reason)}</p>}
      {question.remember !== null && (
        <label>
          <select aria-label="Remember" value={remember} disabled={!controls} onChange={(event) => setRemember(event.currentTarget.value)}>
            <option value="">Only now</option>
            <option value="session">Remember in this session</option>
            <option value="always">Remember always</option>
          </select>{" "}
          <span class="note">exactly this: {printable(question.remember)}</span>
        </label>
      )}
      <div class="answers">
        {question.options.map((option) => (
          <button
            type="button"
            key={option.id}
            class={option.kind.startsWith("allow") ? "primary" : option.kind.startsWith("reject") ? "danger" : ""}
            disabled={!controls}
            onClick={() => answer({ option: option.id, ...(remember && { remember }) })}
          >
            {oneLine(option.name, 120) || oneLine(option.id, 120)}
            <small> ({oneLine(option.kind.replaceAll("_", " "), 24)})</small>
          </button>
        ))}
        {question.options.length === 0 && (
          <button type="button" disabled={!controls} onClick={() => answer({ action: "cancel" })}>
            Close
          </button>
        )}
      </div>
    </Frame>
  );
}

function Login(props: { question: LoginQuestion }) {
  const { question } = props;
  const { controls } = useView();
  const command = useCommand();
  const answer = (answer: { [name: string]: unknown }) => command("answer", { question: question.number, ...answer });
  return (
    <Frame question={question} asks="wants you to log in first">
      {question.message && <p dir="auto">{printable(question.message)}</p>}
      <p class="note">
        <code>{oneLine(question.method, 80)}</code> waits for it.
      </p>
      <LoginWays
        ways={question.ways}
        choose={(way, values) => answer({ login: way.id, ...(way.variables.length > 0 && { values }) })}
      />
      <button type="button" disabled={!controls} onClick={() => answer({ action: "cancel" })}>
        Not now
      </button>
    </Frame>
  );
}

function Page(props: { question: PageQuestion }) {
  const { question } = props;
  const { controls } = useView();
  const command = useCommand();
  const act = (action: string) => command("answer", { question: question.number, action });
  return (
    <Frame question={question} asks="wants to send you to a web page">
      <p dir="auto">{printable(question.message)}</p>
      <p class="question-title">{printable(question.host)}</p>
      {question.displayHost !== question.host && <p class="note">in its own letters: {printable(question.displayHost)}</p>}
      <p>
        <code>{printable(question.url)}</code>
      </p>
      {question.completed && <p>The agent says that you are done there.</p>}
      {question.warnings.map((warning) => (
        <p key={warning} class="problem">
          {printable(warning)}
        </p>
      ))}
      <div class="answers">
        {question.completed ? (
          <button type="button" class="primary" disabled={!controls} onClick={() => act("accept")}>
            Go on
          </button>
        ) : (
          controls && (
            <span onClick={() => void act("accept")}>
              <Address address={question.url} text="Open the page" />
            </span>
          )
        )}
        <button type="button" class="danger" disabled={!controls} onClick={() => act("decline")}>
          Decline
        </button>
        <button type="button" disabled={!controls} onClick={() => act("cancel")}>
          Not now
        </button>
      </div>
    </Frame>
  );
}
