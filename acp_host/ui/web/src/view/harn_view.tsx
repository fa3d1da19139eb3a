/** What a Harn agent tells beside the conversation. All of it is the agent's word: text, and nothing is opened or run. */
import type { ComponentChildren } from "preact";
import type { Json } from "../json_patch";
import { oneLine, printable } from "../plain_text";
import type { JsonObject } from "../state";
import { memo } from "./context";
import { HumanRequest } from "./human_request";
import { Fold, Raw, Status } from "./parts";

export const HarnPanel = memo(function HarnPanel(props: { harn: JsonObject }) {
  const { harn } = props;
  const skills = harn.skills as unknown as { active?: JsonObject } | null;
  return (
    <>
      <Topic title="Wanted from a person" items={harn.humanRequests} draw={drawRequest} />
      <Topic title="Workers" items={harn.workers} draw={drawWorker} />
      <Topic title="Artifacts" items={harn.artifacts} draw={drawArtifact} />
      <Topic title="Handed on" items={harn.handoffs} draw={drawHandoff} />
      <Topic title="Skills" items={skills?.active ?? null} draw={drawSkill} />
      <Fold name="all of harn" summary="All that it tells">
        {() => <Raw value={harn} />}
      </Fold>
    </>
  );
});

type Draw = (item: JsonObject) => ComponentChildren;

function Topic(props: { title: string; items: Json | undefined; draw: Draw }) {
  const items = Object.entries((props.items ?? {}) as { [id: string]: JsonObject });
  if (items.length === 0) return null;
  return (
    <section aria-label={props.title}>
      <h3>
        {props.title} <span class="badge">{items.length}</span>
      </h3>
      <ul class="cards">
        {items.map(([id, item]) => (
          <li key={id} class="card">
            {props.draw(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}

const text = (value: Json | undefined, otherwise = "") => (typeof value === "string" ? oneLine(value) : otherwise);
const word = (value: Json | undefined) => (typeof value === "string" ? value : null);

const drawWorker: Draw = (worker) => (
  <>
    <strong>{text(worker.name, text(worker.workerId))}</strong> <Status word={word(worker.status)} />
    <p class="note">{text(worker.task)}</p>
  </>
);

const drawSkill: Draw = (skill) => (
  <>
    <strong>{text(skill.name)}</strong> <span class="note">{text(skill.reason)}</span>
    {Array.isArray(skill.allowedTools) && <p class="note">tools: {skill.allowedTools.map((tool) => text(tool)).join(", ")}</p>}
  </>
);

const drawArtifact: Draw = (artifact) => (
  <>
    <strong>{text(artifact.title, text(artifact.artifactId))}</strong>{" "}
    <span class="badge">{text(artifact.mimeType, text(artifact.kind, "artifact"))}</span>
    {typeof artifact.fallback === "string" && <p class="plain">{printable(artifact.fallback)}</p>}
    <Fold name={`artifact ${text(artifact.artifactId)}`} summary="As it was sent">
      {() => <Raw value={artifact.spec ?? null} />}
    </Fold>
  </>
);

const drawHandoff: Draw = (handoff) => (
  <>
    <strong>{text(handoff.task, text(handoff.handoffId))}</strong>
    <p class="note">
      {typeof handoff.target === "string" ? text(handoff.target) : ""} {text(handoff.reason)}
    </p>
  </>
);

const drawRequest: Draw = (request) => <HumanRequest request={request} />;
