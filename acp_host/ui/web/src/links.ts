/** Which addresses of an agent may become links, and how their target is shown. Everything else stays text. */

export interface Target {
  /** Where the link leads, as the browser opens it: the host in ASCII, and nothing before it. */
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
  // Names and passwords before the host are for no browser of today, but can look like one.
  url.username = url.password = "";
  const whole = url.protocol === "https:" ? url.href.slice("https://".length) : url.href;
  const trimmed = whole.replace(/\/$/, "");
  const most = Math.max(MOST, whole.indexOf(url.host) + url.host.length + 1); // all of the host: its end says whose it is
  return { href: url.href, shown: trimmed.length > most ? `${trimmed.slice(0, most - 1)}…` : trimmed };
}
