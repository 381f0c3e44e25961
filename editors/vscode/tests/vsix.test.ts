// The package that is installed: what it must hold, and what it must not.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";

const VSIX = "out/tritonlint.vsix";
const python = (code: string) => execFileSync("python3", ["-c", code, VSIX], { encoding: "utf8" });
const NAMES = python("import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')").trim().split("\n");

test("it holds the extension and nothing else", () => {
  const expected = [
    "LICENSE.txt", "changelog.md", "icon.png", "out/THIRD-PARTY-NOTICES.txt", "out/extension.js", "package.json", "readme.md",
  ];
  assert.deepEqual(
    NAMES.filter((name) => name.startsWith("extension/")).sort(),
    expected.map((name) => `extension/${name}`),
  );
});

test("the licenses of the bundled packages go with it", () => {
  const notices = readFileSync("out/THIRD-PARTY-NOTICES.txt", "utf8");
  for (const name of ["vscode-languageclient", "vscode-languageserver-protocol", "vscode-jsonrpc", "semver", "minimatch"]) {
    assert.match(notices, new RegExp(`^${name} \\d`, "m"));
  }
});

test("it is small", () => {
  assert.ok(statSync(VSIX).size < 1_000_000, `${statSync(VSIX).size} bytes`);
});

test("its bundle is the one that was tested", () => {
  const size = python("import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).getinfo('extension/out/extension.js').file_size)");
  const bundle = readFileSync("out/extension.js", "utf8");
  assert.equal(Number(size), Buffer.byteLength(bundle));
  assert.ok(!bundle.includes("sourceMappingURL="));
});
