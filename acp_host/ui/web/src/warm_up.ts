/**
 * Uses once what takes long the first time, one thing per task: {@link warmUp}. The first entries that are drawn would need
 * all of it at once, while the user waits.
 */
import { highlight } from "./highlight";
import { MarkdownBlocks, sanitized } from "./markdown";

const STEPS = [
  () => new MarkdownBlocks().update("- *words* and `code`, see https://example.org/ or [there](https://example.org/)\n\n| a |\n|-|"),
  () => sanitized('<p><a href="https://example.org/" title="there">words</a></p>'),
  () => highlight("def f(x: str) -> str:\n    return f'{x}'  # 1", "python"),
  () => highlight("const f = (x) => `${x}`; // 1", "javascript"),
  () => highlight("git log | head -3", "bash"),
];

/** Does what there is to do, if nobody has begun to. */
export const warmUp = onceEach(STEPS);

/** Returns what does these things, one per task; only the first call does anything. */
export function onceEach(steps: readonly (() => void)[]): () => void {
  const left = [...steps];
  let begun = false;
  const step = () => {
    left.shift()?.();
    if (left.length > 0) setTimeout(step);
  };
  return () => {
    if (!begun) setTimeout(step);
    begun = true;
  };
}
