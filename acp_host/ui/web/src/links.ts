/** Which addresses of an agent may become links, and how their target is shown. Everything else stays text. */

export interface Target {
  /** Where the link leads, as the browser opens it: the host in ASCII. */
  href: string;
  /** The same, short, for people: the host and the beginning of the rest. */
  shown: string;
}

const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const MOST = 80;

/** Returns the target of a link, or `null` for what is not opened from here, such as `javascript:` and `file:`. */
export function readTarget(address: string): Target | null {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  if (!SCHEMES.has(url.protocol)) return null;
  const whole = url.protocol === "https:" ? url.href.slice("https://".length) : url.href;
  const trimmed = whole.replace(/\/$/, "");
  return { href: url.href, shown: trimmed.length > MOST ? `${trimmed.slice(0, MOST - 1)}…` : trimmed };
}
