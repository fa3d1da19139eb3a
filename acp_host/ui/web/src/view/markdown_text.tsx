/** Markdown of an agent, drawn block by block. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { MarkdownBlocks, sanitized } from "../markdown";
import { memo } from "./context";

export const MarkdownText = memo(function MarkdownText(props: { segments: readonly string[] }) {
  const blocks = useMemo(() => new MarkdownBlocks(), []);
  return (
    <div class="markdown" dir="auto">
      {blocks.update(props.segments.join("")).map((block) => (
        <MarkdownBlock key={block.start} html={block.html} />
      ))}
    </div>
  );
});

const MarkdownBlock = memo(function MarkdownBlock(props: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(sanitized(props.html)), [props.html]);
  return <div ref={place} />;
});
