// Bundles the page, and the licences of what is in it. The folder to write to may be named.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = process.argv[2] ?? "../harness/mha_judge/browser/static";
const { metafile } = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  metafile: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  outfile: `${folder}/page.js`,
});
const inside = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
const licences = [...new Set(inside.filter(Boolean))].sort().map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf-8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf-8").trim()}\n`;
});
writeFileSync(`${folder}/page.js.LICENSE.txt`, licences.join("\n---\n\n"));
