import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, findOnPath, serverArguments, show, type Surroundings } from "../src/command";
import { readSettings } from "../src/settings";

const PLACES = { workspaceFolder: "/project", userHome: "/home/me", env: { VENV: "/venvs/one" } };
const AROUND: Surroundings = {
  trusted: true,
  folders: ["/project"],
  activeInterpreter: "/project/.venv/bin/python",
  find: (name) => (name === "tritonlint" || name === "uv" ? `/usr/bin/${name}` : undefined),
};

function lines(settings: Record<string, unknown>, around: Partial<Surroundings> = {}): string[] {
  const asked = readSettings((name) => settings[name], PLACES);
  return candidates(asked, { ...AROUND, ...around }).map(
    (command) => `${command.origin}: ${show(command.program, serverArguments(command, asked))}`,
  );
}

test("without settings: the chosen interpreter, then tritonlint on PATH", () => {
  assert.deepEqual(lines({}), [
    "the Python extension: /project/.venv/bin/python -P -m tritonlint server",
    "PATH: /usr/bin/tritonlint server",
  ]);
});

test("without the Python extension: tritonlint on PATH", () => {
  assert.deepEqual(lines({}, { activeInterpreter: undefined }), ["PATH: /usr/bin/tritonlint server"]);
});

test("without anything: nothing", () => {
  assert.deepEqual(lines({}, { activeInterpreter: undefined, find: () => undefined }), []);
});

test("a path is the only candidate, and comes before an interpreter", () => {
  assert.deepEqual(lines({ path: "/opt/a b/tritonlint", interpreter: "/opt/python" }), [
    'tritonlint.path: "/opt/a b/tritonlint" server',
  ]);
});

test("a path can be a list", () => {
  assert.deepEqual(lines({ path: ["uv", "run", "tritonlint"] }), [
    "tritonlint.path: /usr/bin/uv run tritonlint server",
  ]);
});

test("an empty path or list is none", () => {
  assert.deepEqual(lines({ path: " " }), lines({}));
  assert.deepEqual(lines({ path: [] }), lines({}));
});

test("an interpreter is the only candidate", () => {
  assert.deepEqual(lines({ interpreter: "${env:VENV}/bin/python" }), [
    "tritonlint.interpreter: /venvs/one/bin/python -P -m tritonlint server",
  ]);
});

test("a relative path is seen from the first folder", () => {
  assert.deepEqual(lines({ interpreter: ".venv/bin/python" }), [
    "tritonlint.interpreter: /project/.venv/bin/python -P -m tritonlint server",
  ]);
});

test("a name that is not on PATH stays, so that the message can name it", () => {
  assert.deepEqual(lines({ path: "tritonlnt" }), ["tritonlint.path: tritonlnt server"]);
});

test("arguments follow `server`", () => {
  assert.deepEqual(lines({ path: "/x", args: ["--verbose", "two words"] }), [
    'tritonlint.path: /x server --verbose "two words"',
  ]);
});

test("in a workspace that is not trusted, nothing of it runs", () => {
  const untrusted = { trusted: false };
  assert.deepEqual(lines({}, untrusted), ["PATH: /usr/bin/tritonlint server"]);
  assert.deepEqual(lines({ path: "./tritonlint" }, untrusted), []);
  assert.deepEqual(lines({ path: "${workspaceFolder}/bin/tritonlint" }, untrusted), []);
  assert.deepEqual(lines({ interpreter: "/project/.venv/bin/python" }, untrusted), []);
  assert.deepEqual(lines({ interpreter: "/projects/python" }, untrusted).length, 1);
  assert.deepEqual(lines({}, { ...untrusted, find: () => "/project/bin/tritonlint" }), []);
});

test("PATH: the first folder that has the program; relative folders do not count", () => {
  const files = new Set(["/b/tritonlint", "/c/tritonlint", "./tritonlint"]);
  const find = (value?: string) => findOnPath("tritonlint", { PATH: value }, "linux", (file) => files.has(file));
  assert.equal(find(".:/a:/b:/c"), "/b/tritonlint");
  assert.equal(find("."), undefined);
  assert.equal(find(undefined), undefined);
});

test("PATH on Windows", () => {
  const isProgram = (file: string) => file === "C:\\Tools\\tritonlint.exe";
  assert.equal(findOnPath("tritonlint", { Path: "C:\\Tools;." }, "win32", isProgram), "C:\\Tools\\tritonlint.exe");
});
