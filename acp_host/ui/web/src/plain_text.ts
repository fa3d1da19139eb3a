/** Text of others, made fit to show as plain text. The same rules as `acp_host.printable`. */

const UNPRINTABLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

/** Spells out what could hide or reorder text: control characters, direction marks, halves of characters. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0)!;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** One line of bounded length, for titles and labels. */
export function oneLine(text: string, most = 300): string {
  const line = printable(text.slice(0, most + 1).replace(/\s+/g, " ").trim());
  return text.length > most ? `${line.slice(0, most - 1)}…` : line;
}

// CSI, OSC and the other control strings, then escapes of two or three characters. ECMA-48. What can begin a string is in
// none: else a row of beginnings without an end would be read to its end from each of them.
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]/g;

/**
 * What a command printed, as plain text: sequences that steer a terminal are left out, a carriage return begins the line
 * again, a backspace takes a character back, and all other control characters are spelled out.
 */
export function terminalText(output: string): string {
  const lines = output.replace(ESCAPES, "").replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) => printable(takeBack(afterReturn(line)))).join("\n");
}

function afterReturn(line: string): string {
  if (!line.includes("\r")) return line;
  // From the last piece on: of each one before, what is longer than all behind it can be seen.
  let shown = "";
  for (const piece of line.split("\r").reverse()) shown += piece.slice(shown.length);
  return shown;
}

function takeBack(line: string): string {
  if (!line.includes("\b")) return line;
  const kept: string[] = [];
  for (const character of line) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
