/** Dark or light as the notebook is, which need not be as the environment prefers. */

const MARKS = ["class", "data-jp-theme-light", "data-theme", "data-vscode-theme-kind"];

/** Tells the view in `frame` the colours of the page around it, also when these change; returns what ends that. */
export function followTheme(frame: HTMLElement): () => void {
  const follow = () => {
    const scheme = schemeOfPage();
    if (scheme === null) frame.style.removeProperty("--acp-color-scheme");
    else frame.style.setProperty("--acp-color-scheme", scheme);
  };
  const watching = new MutationObserver(follow);
  for (const element of [document.documentElement, document.body])
    watching.observe(element, { attributes: true, attributeFilter: MARKS });
  follow();
  return () => watching.disconnect();
}

/** What JupyterLab, Notebook, VS Code and marimo say of their theme; `null`: nothing. */
function schemeOfPage(): "dark" | "light" | null {
  const { body, documentElement: root } = document;
  const said = body.dataset.jpThemeLight ?? body.dataset.vscodeThemeKind ?? body.dataset.theme ?? root.dataset.theme;
  if (said !== undefined) return said === "false" || said.includes("dark") || said === "vscode-high-contrast" ? "dark" : "light";
  if (body.classList.contains("dark") || root.classList.contains("dark")) return "dark";
  return body.classList.contains("light") || root.classList.contains("light") ? "light" : null;
}
