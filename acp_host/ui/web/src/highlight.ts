/**
 * Colours for code: the languages that agents write most. Gives HTML in which all code is escaped. Markdown is not among
 * them: what a row of brackets is takes the library seconds to find out.
 */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** What each is called besides; the languages' own lists, which nobody knows before the language is made. */
const ALIASES: { [name: string]: string[] } = {
  bash: ["sh", "zsh"],
  c: ["h"],
  css: [],
  diff: ["patch"],
  go: ["golang"],
  ini: ["toml"],
  java: [],
  javascript: ["js", "jsx", "mjs", "cjs"],
  json: ["jsonc", "json5"],
  python: ["py", "pyi"],
  rust: ["rs"],
  sql: [],
  typescript: ["ts", "tsx", "mts", "cts"],
  xml: ["html", "xhtml", "svg"],
  yaml: ["yml"],
};
const LANGUAGES = { bash, c, css, diff, go, ini, java, javascript, json, python, rust, sql, typescript, xml, yaml };
const BY_NAME = new Map(
  Object.entries(LANGUAGES).flatMap(([name, language]) => [name, ...ALIASES[name]!].map((one) => [one, { name, language }] as const)),
);

/** Returns the name of a language that is known here, `null` for others. It is made when it is used first: that takes long. */
function made(name: string): string | null {
  const found = BY_NAME.get(name.toLowerCase());
  if (found === undefined) return null;
  if (!hljs.getLanguage(found.name)) hljs.registerLanguage(found.name, found.language);
  return found.name;
}

/** Longer code is shown without colours: finding them takes time, and of code that is made for it more than in proportion. */
const MOST = 10_000;

/** Returns the code as HTML with spans of classes `hljs-…`, or `null` where the language is not known. */
export function highlight(code: string, language: string): string | null {
  const known = code.length > MOST ? null : made(language);
  return known === null ? null : hljs.highlight(code, { language: known, ignoreIllegals: true }).value;
}

/** Returns the name of the language of a file, by its ending; empty if that says nothing. */
export function languageOf(path: string): string {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return BY_NAME.has(ending) ? ending : "";
}

/** A piece of code and the classes of its colours; empty for none. */
export interface Piece {
  classes: string;
  text: string;
}

const MARKUP = /<span class="([^"]*)">|(<\/span>)|([^<]+)/g;
const ENTITIES: { [entity: string]: string } = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** Returns the code in pieces, for those who draw text and no HTML. */
export function colouredPieces(code: string, language: string): Piece[] {
  const html = highlight(code, language);
  if (html === null) return [{ classes: "", text: code }];
  const pieces: Piece[] = [];
  const open: string[] = [];
  for (const [, opened, closed, text] of html.matchAll(MARKUP)) {
    if (opened !== undefined) open.push(opened);
    else if (closed !== undefined) open.pop();
    else pieces.push({ classes: open.join(" "), text: text!.replace(/&(?:amp|lt|gt|quot|#x27);/g, (one) => ENTITIES[one]!) });
  }
  return pieces;
}
