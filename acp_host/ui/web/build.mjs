// Builds the view into the folder that is named: `node build.mjs ../static`. The same sources give the same bytes.
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { argv } from "node:process";
import * as esbuild from "esbuild";

const folder = argv[2] ?? "../static";
await mkdir(folder, { recursive: true });
await esbuild.build({
  entryPoints: { view: "src/view.tsx", page: "src/page.ts", "view-style": "styles/view.css", "page-style": "styles/page.css" },
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
  // Licences of what is bundled stay in it, at its end.
  legalComments: "eof",
  charset: "ascii",
  logLevel: "warning",
});
await copyFile("src/index.html", join(folder, "index.html"));
