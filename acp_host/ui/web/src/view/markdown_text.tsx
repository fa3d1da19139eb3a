/** Markdown of an agent, drawn block by block. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Block, MarkdownBlocks, sanitizedBlocks } from "../markdown";
import { memo } from "./context";

export const MarkdownText = memo(function MarkdownText(props: { segments: readonly string[] }) {
  const blocks = useMemo(() => new SafeBlocks(), []);
  const text = usePieces(props.segments.join(""));
  return (
    <div class="markdown" dir="auto">
      {blocks.update(text).map(({ block, nodes }) => (
        <MarkdownBlock key={block.start} nodes={nodes} />
      ))}
    </div>
  );
});

/** Characters that are read in one frame. */
const PIECE = 16_384;

/** Returns the beginning of a long text, and a piece more of it in each frame. */
function usePieces(text: string): string {
  const [most, setMost] = useState(PIECE);
  const more = text.length > most;
  useEffect(() => {
    if (!more) return;
    const frame = requestAnimationFrame(() => setMost(most + PIECE));
    return () => cancelAnimationFrame(frame);
  }, [more, most]);
  return more ? text.slice(0, most) : text;
}

interface SafeBlock {
  block: Block;
  /** Empty once they are in the document. */
  nodes: DocumentFragment;
}

/** The blocks of one message as nodes; those that did not change are the same objects as last time. */
class SafeBlocks {
  private readonly blocks = new MarkdownBlocks();
  private known = new Map<Block, SafeBlock>();

  update(text: string): SafeBlock[] {
    const blocks = this.blocks.update(text);
    const fresh = blocks.filter((block) => !this.known.has(block));
    const nodes = sanitizedBlocks(fresh);
    const made = new Map(fresh.map((block, index) => [block, { block, nodes: nodes[index]! }]));
    this.known = new Map(blocks.map((block) => [block, this.known.get(block) ?? made.get(block)!]));
    return [...this.known.values()];
  }
}

const MarkdownBlock = memo(function MarkdownBlock(props: { nodes: DocumentFragment }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(props.nodes), [props.nodes]);
  return <div ref={place} />;
});
