/**
 * Markdown of an agent, as DOM nodes that can do no harm. Three lines of defence: the parser takes no HTML, the sanitiser
 * lets only a few elements through, and the page's Content-Security-Policy runs no script and fetches no image.
 *
 * A message grows while it is written. {@link MarkdownBlocks} parses only its end again, and gives the blocks before it
 * back as they were, so that they are drawn once.
 */
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { highlight } from "./highlight";
import { readTarget } from "./links";
import { printable } from "./plain_text";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// What is no link of the web stays what the agent wrote.
parser.validateLink = (address) => readTarget(address) !== null;
const escape = parser.utils.escapeHtml;

// No image is ever fetched: its words are shown, and its address as a link that the user may open.
parser.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]!;
  return escape(token.content || "image") + link(String(token.attrGet("src") ?? ""));
};

parser.renderer.rules.link_open = (tokens, index, _options, environment) => {
  const address = String(tokens[index]!.attrGet("href") ?? "");
  const isText = tokens[index + 1]?.type === "text" && tokens[index + 2]?.type === "link_close";
  const text = isText ? tokens[index + 1]!.content : "";
  const target = readTarget(address);
  targetsIn(environment).push(target === null ? null : isSame(text, target.href) ? "" : target.shown);
  return target === null ? "<span>" : opening(target.href);
};

parser.renderer.rules.link_close = (_tokens, _index, _options, environment) => {
  const shown = targetsIn(environment).pop() ?? null;
  if (shown === null) return "</span>";
  return shown === "" ? "</a>" : `</a><span class="link-target"> (${escape(printable(shown))})</span>`;
};

parser.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index]!;
  const language = token.info.trim().split(/\s+/)[0] ?? "";
  const coloured = highlight(token.content, language);
  return `<pre><code>${coloured ?? escape(token.content)}</code></pre>\n`;
};

/** The targets of the links that are open, to be shown when they close: empty for none, `null` for what is no link. */
function targetsIn(environment: unknown): (string | null)[] {
  const holder = environment as { targets?: (string | null)[] };
  return (holder.targets ??= []);
}

/** Characters of a paragraph that are read as Markdown. What it takes can grow with their square, and people write fewer. */
const MOST_INLINE = 8_000;

parser.core.ruler.at("inline", (state) => {
  for (const token of state.tokens) {
    if (token.type !== "inline") continue;
    if (token.content.length <= MOST_INLINE) state.md.inline.parse(token.content, state.md, state.env, token.children ??= []);
    else token.children = [Object.assign(new state.Token("long_text", "", 0), { content: token.content })];
  }
});
parser.renderer.rules.long_text = (tokens, index) => escape(tokens[index]!.content);

// After parsing, since what is spelled out is longer: places in the text stay right.
parser.core.ruler.push("printable", (state) => {
  for (const token of state.tokens) {
    if (token.type === "fence" || token.type === "code_block") token.content = printable(token.content);
    for (const child of token.children ?? []) child.content = printable(child.content);
  }
});

// The parser writes how a column is aligned as a style, which the policy of the page forbids.
parser.core.ruler.push("alignment", (state) => {
  for (const token of state.tokens) {
    if (token.type !== "th_open" && token.type !== "td_open") continue;
    const side = /^text-align:(left|right|center)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
    token.attrs = side === undefined ? null : [["class", `align-${side}`]];
  }
});

function link(address: string): string {
  const target = readTarget(address);
  return target === null ? ` (${escape(address)})` : ` ${opening(target.href)}${escape(printable(target.shown))}</a>`;
}

function opening(href: string): string {
  return `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow" title="${escape(href)}">`;
}

function isSame(text: string, href: string): boolean {
  return text === href || `${text}/` === href || `https://${text}` === href || `mailto:${text}` === href;
}

/** Only what is named here goes through. */
const ALLOWED = {
  ALLOWED_TAGS:
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s section span strong table tbody td th thead tr ul".split(" "),
  ALLOWED_ATTR: ["class", "href", "rel", "start", "target", "title"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  // No addresses, so they need not look like one.
  ADD_URI_SAFE_ATTR: ["rel", "start", "target"],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};
let configured = false;

/** Returns HTML as nodes, with everything left out that could act. */
export function sanitized(html: string): DocumentFragment {
  // Once and not with each call: reading the rules takes longer than most blocks do.
  if (!configured) DOMPurify.setConfig(ALLOWED);
  configured = true;
  return DOMPurify.sanitize(html) as unknown as DocumentFragment;
}

/** One block of a text at the top level: a paragraph, a list, a piece of code. */
export interface Block {
  /** Where it begins in the text; never changes. */
  start: number;
  html: string;
}

/** Returns blocks as nodes, each as {@link sanitized} gives it, but all in one go: beginning takes longest. */
export function sanitizedBlocks(blocks: readonly Block[]): DocumentFragment[] {
  if (blocks.length === 0) return [];
  // The parser gives no such element, so that nothing in a block can end it.
  const whole = sanitized(blocks.map((block) => `<section>${block.html}</section>`).join(""));
  const parts = [...whole.children];
  const areWhole = parts.length === blocks.length && parts.every((part) => part.localName === "section");
  if (!areWhole) return blocks.map((block) => sanitized(block.html));
  return parts.map((part) => {
    const fragment = document.createDocumentFragment();
    fragment.append(...part.childNodes);
    return fragment;
  });
}

/** The blocks of one message, as it grows. */
export class MarkdownBlocks {
  private text = "";
  private blocks: Block[] = [];

  /** Returns the blocks of `text`; those that did not change are the same objects as last time. */
  update(text: string): readonly Block[] {
    if (text === this.text && this.blocks.length > 0) return this.blocks;
    const grows = text.startsWith(this.text);
    this.text = text;
    // The last block may go on, and the last but one may turn out to be one with it.
    const kept = grows ? this.blocks.slice(0, -2) : [];
    const start = grows ? (this.blocks[kept.length]?.start ?? 0) : 0;
    const known = new Map(this.blocks.map((block) => [block.start, block]));
    const fresh = parse(text.slice(start), start).map((block) => {
      const before = known.get(block.start);
      return before?.html === block.html ? before : block;
    });
    this.blocks = [...kept, ...fresh];
    return this.blocks;
  }
}

function parse(text: string, offset: number): Block[] {
  const environment = {};
  const tokens = parser.parse(text, environment);
  const begins = lineStarts(text);
  const blocks: Block[] = [];
  let first = 0;
  let depth = 0;
  tokens.forEach((token, index) => {
    depth += token.nesting;
    if (depth !== 0) return;
    const html = parser.renderer.render(tokens.slice(first, index + 1), parser.options, environment);
    blocks.push({ start: offset + (begins[tokens[first]!.map?.[0] ?? 0] ?? 0), html });
    first = index + 1;
  });
  return blocks;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
