/** Colours for code: the languages that agents write most. Gives HTML in which all code is escaped. */
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
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = { bash, c, css, diff, go, ini, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Longer code is shown without colours: finding them takes time in proportion. */
const MOST = 20_000;

/** Returns the code as HTML with spans of classes `hljs-…`, or `null` where the language is not known. */
export function highlight(code: string, language: string): string | null {
  if (code.length > MOST || !hljs.getLanguage(language)) return null;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** Returns the name of the language of a file, by its ending; empty if that says nothing. */
export function languageOf(path: string): string {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return hljs.getLanguage(ending) ? ending : "";
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
