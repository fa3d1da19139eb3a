// Builds the view into the folder that is named: `node build.mjs ../static`. The same sources give the same bytes.
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { argv } from "node:process";
import * as esbuild from "esbuild";

const folder = argv[2] ?? "../static";
await mkdir(folder, { recursive: true });
const { metafile } = await esbuild.build({
  entryPoints: { view: "src/view.ts", page: "src/page.ts", "view-style": "styles/view.css", "page-style": "styles/page.css" },
  entryNames: "[name]",
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  // The page is a few lines around the view, which is a file of its own so that a widget can have it alone.
  external: ["./view.js"],
  legalComments: "eof",
  metafile: true,
  charset: "ascii",
  logLevel: "warning",
});
await copyFile("src/index.html", join(folder, "index.html"));
await writeFile(join(folder, "LICENSES.txt"), await licences(bundled(metafile)));

/** Returns the packages of which something is in the bundle. */
function bundled({ inputs }) {
  const found = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(found.filter((name) => name !== undefined))].sort();
}

/** Returns what the licences of packages say, which has to go wherever their code goes. */
async function licences(names) {
  const texts = [];
  for (const name of names) {
    const home = join("node_modules", name);
    const file = (await readdir(home)).find((entry) => /^licen[cs]e/i.test(entry));
    const { version, license } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
    const text = file === undefined ? "" : `\n${(await readFile(join(home, file), "utf8")).trim()}\n`;
    texts.push(`${name} ${version} (${license})\n${text}`);
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
