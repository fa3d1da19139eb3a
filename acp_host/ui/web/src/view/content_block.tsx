/** Content blocks: what a message or a tool call is made of besides text. */
import type { ContentBlock, Part } from "../state";
import { oneLine, printable } from "../plain_text";
import { memo } from "./context";
import { MarkdownText } from "./markdown_text";
import { Address, Fold, Raw, useFirst } from "./parts";

/** Pictures that are drawn from the bytes in the message. SVG is not among them: it is a document, not a picture. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MOST_PARTS = 200;
const BASE64 = /^[A-Za-z0-9+/=\s]+$/;

/** The parts of a message; of the user's own words nothing is read as Markdown. */
export function Parts(props: { parts: readonly Part[]; name: string; plain?: boolean }) {
  const [parts, more] = useFirst(props.parts, MOST_PARTS, `parts ${props.name}`, "parts");
  return (
    <>
      {parts.map((part, index) =>
        part.type !== "text" ? (
          <Block key={index} block={part.block} name={`${props.name} ${index}`} />
        ) : props.plain ? (
          <p key={index} class="plain" dir="auto">
            {printable(part.segments.join(""))}
          </p>
        ) : (
          <MarkdownText key={index} segments={part.segments} />
        ),
      )}
      {more}
    </>
  );
}

/** One content block of any kind. */
export const Block = memo(function Block(props: { block: ContentBlock; name: string }) {
  const { block } = props;
  const mimeType = String(block.mimeType ?? "");
  switch (block.type) {
    case "text":
      return <MarkdownText segments={[String(block.text ?? "")]} />;
    case "image":
      return <Picture data={String(block.data ?? "")} mimeType={mimeType} uri={block.uri as string | null} />;
    case "audio":
      return <p class="note">audio, {oneLine(mimeType)}</p>;
    case "resource_link":
      return (
        <p class="note">
          <Address address={String(block.uri ?? "")} text={String(block.title ?? block.name ?? "")} />
        </p>
      );
    case "resource":
      return <Resource resource={block.resource as { [name: string]: string }} name={props.name} />;
    default:
      return (
        <Fold name={props.name} summary={`Content of kind “${oneLine(block.type)}”`}>
          {() => <Raw value={block} />}
        </Fold>
      );
  }
});

function Picture(props: { data: string; mimeType: string; uri: string | null }) {
  if (PICTURES.has(props.mimeType) && BASE64.test(props.data)) {
    return <img class="picture" src={`data:${props.mimeType};base64,${props.data}`} alt="Picture" />;
  }
  return (
    <p class="note">
      a picture that is not shown, {oneLine(props.mimeType)} {props.uri && <Address address={props.uri} />}
    </p>
  );
}

function Resource(props: { resource: { [name: string]: string } | null; name: string }) {
  const uri = String(props.resource?.uri ?? "");
  const text = props.resource?.text;
  return (
    <Fold name={props.name} summary={<code>{oneLine(uri)}</code>}>
      {() => (typeof text === "string" ? <pre class="raw">{printable(text)}</pre> : <Raw value={props.resource} />)}
    </Fold>
  );
}
