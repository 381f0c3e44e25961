// Bundles the extension to out/extension.js; with --tests, each test to out/tests/.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  rmSync("out/tests", { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: readdirSync("tests").filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`),
    outdir: "out/tests",
    alias: { vscode: "./tests/stub/vscode.ts" },
    sourcemap: "inline",
  });
} else {
  rmSync("out", { recursive: true, force: true });
  const { metafile } = await build({
    ...shared,
    metafile: true,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    external: ["vscode"],
    minify: true,
    legalComments: "none",
  });
  writeFileSync("out/THIRD-PARTY-NOTICES.txt", notices(Object.keys(metafile.inputs)));
}

/** The licenses of the packages whose code is in the bundle: they ask to go with it. */
function notices(files) {
  const packages = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const texts = [...new Set(packages)].filter((folder) => folder !== undefined).sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (license === undefined) {
      throw new Error(`${name} has no license file`);
    }
    return `${name} ${version}\n\n${readFileSync(`${folder}/${license}`, "utf8").trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
