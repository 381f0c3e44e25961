// Bundles the extension to out/extension.js; with --tests, each test to out/tests/.
import { readdirSync, rmSync } from "node:fs";
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
  await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    external: ["vscode"],
    minify: true,
    legalComments: "inline",
  });
}
