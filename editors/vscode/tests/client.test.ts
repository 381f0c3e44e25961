// The bundle that is shipped, in a stand-in for the editor, with a stand-in for the server.

import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Editor, FAKE, stub, until } from "./editor";

let editor: Editor;
const { stage } = stub;
const PATH = process.env["PATH"];

beforeEach(() => {
  editor = new Editor();
});
afterEach(async () => {
  process.env["PATH"] = PATH;
  await editor.close();
});

function alive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A program in the folder of the editor that stands for one which is installed. */
function install(name: string, ...first: string[]): string {
  const file = path.join(editor.folder, name);
  const line = [process.execPath, FAKE, `--record=${editor.record}`, ...first].map((part) => `'${part}'`).join(" ");
  writeFileSync(file, `#!/bin/sh\nexec ${line} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

test("initialize, diagnostics, restart, shutdown", async () => {
  const state = await editor.start({ path: editor.fake(), select: ["TL1"], run: "onSave" });
  assert.equal(state.kind, "running");
  const [{ params }] = editor.sent("initialize") as [{ params: any }];
  assert.deepEqual(params.initializationOptions, { tritonlint: { select: ["TL1"], run: "onSave" } });
  assert.equal(params.workspaceFolders[0].name, "one");

  const uri = editor.open("kernel.py");
  await until("diagnostics", () => stage.diagnostics.has(uri.toString()));
  assert.equal(stub.languages.getDiagnostics(uri)[0]!.source, "tritonlint");

  await stub.commands.executeCommand("tritonlint.restart");
  assert.equal((await editor.settled()).kind, "running");
  const [first, second] = editor.starts();
  assert.notEqual(first!.started, second!.started);
  assert.equal(alive(first!.started), false);
  await until("the file is opened again", () => editor.sent("textDocument/didOpen").length === 2);

  await editor.close();
  assert.equal(alive(second!.started), false);
  assert.equal(editor.state().kind, "stopped");
  assert.equal(stage.watchers, 0);
  assert.deepEqual(stage.shown, []);
});

test("each server is asked to shut down before it ends", async () => {
  await editor.start({ path: editor.fake() });
  await stub.commands.executeCommand("tritonlint.restart");
  await editor.settled();
  const methods = editor.sent().map(({ method, started }) => method ?? (started === undefined ? "answer" : "start"));
  const first = methods.slice(0, methods.lastIndexOf("start"));
  assert.deepEqual(first.slice(-2), ["shutdown", "exit"]);
});

test("several folders, one server", async () => {
  stub.workspace.workspaceFolders!.push({ uri: stub.Uri.file("/elsewhere"), name: "two", index: 1 });
  await editor.start({ path: editor.fake() });
  const [{ params }] = editor.sent("initialize") as [{ params: any }];
  assert.deepEqual(params.workspaceFolders.map((folder: any) => folder.name), ["one", "two"]);
  assert.equal(editor.starts().length, 1);
  assert.equal(editor.starts()[0]!.cwd, editor.folder);
});

test("the status tells the command and the version", async () => {
  await editor.start({ path: editor.fake(), args: ["--verbose"] });
  const [item] = stage.items;
  assert.equal(item!["text"], "$(check) tritonlint");
  assert.match(item!["tooltip"], /^tritonlint 9\.8\.8 is running\.\n.*fake_server\.mjs .* server --verbose \(from tritonlint\.path\)/);
  assert.equal(item!["command"], "tritonlint.showLog");
  await stub.commands.executeCommand(item!["command"]);
  assert.equal(stage.logShown, 1);
});

test("settings of the server are sent on a change, without a restart", async () => {
  await editor.start({ path: editor.fake(), select: ["TL1"] });
  stub.change({ select: [], minConfidence: "low", ignore: ["TL3"] });
  await until("the settings", () => editor.sent("workspace/didChangeConfiguration").length > 0);
  const sent = editor.sent("workspace/didChangeConfiguration").map(({ params }) => params.settings);
  assert.deepEqual(sent, [{ tritonlint: { ignore: ["TL3"], minConfidence: "low" } }]);
  await editor.settled();
  assert.equal(editor.starts().length, 1);
});

test("a server that asks for its settings gets the same", async () => {
  await editor.start({ path: editor.fake(), ignore: ["TL3"], enable: true });
  editor.open("kernel.py");
  const answer = () => editor.sent().find(({ id, method }) => id === "ask" && method === undefined);
  await until("the answer", () => answer() !== undefined);
  assert.deepEqual(answer()!.result, [{ ignore: ["TL3"] }]);
});

for (const [name, value] of Object.entries({ args: ["--verbose"], interpreter: "/x", path: undefined })) {
  test(`a change of ${name} starts the server anew, once`, async () => {
    await editor.start({ path: editor.fake() });
    stub.change({ [name]: value ?? [...editor.fake(), "--other"] });
    stub.change({ run: "onSave" });
    assert.equal((await editor.settled()).kind, "running");
    assert.equal(editor.starts().length, 2);
  });
}

test("turned off and on again", async () => {
  await editor.start({ path: editor.fake(), enable: false });
  assert.deepEqual(editor.state(), { kind: "stopped", why: "the setting tritonlint.enable is off" });
  assert.equal(editor.starts().length, 0);
  stub.change({ enable: true });
  assert.equal((await editor.settled()).kind, "running");
  stub.change({ enable: false });
  assert.equal((await editor.settled()).kind, "stopped");
  assert.equal(alive(editor.starts()[0]!.started), false);
});

test("not installed: one message, and no start again and again", async () => {
  process.env["PATH"] = editor.folder;
  const state = await editor.start({});
  assert.equal(state.kind, "error");
  stub.change({ args: ["--verbose"] });
  await editor.settled();
  assert.equal(stage.shown.length, 1);
  assert.match(stage.shown[0]!.text, /pip install 'tritonlint\[lsp\]'/);
  assert.deepEqual(stage.shown[0]!.buttons, ["Choose the Interpreter", "Show the Log"]);
  assert.equal(stage.items[0]!["text"], "$(error) tritonlint");
  assert.equal(stage.items[0]!["backgroundColor"].id, "statusBarItem.errorBackground");
  await stub.commands.executeCommand("tritonlint.restart");
  assert.equal(stage.shown.length, 2, "who asks for a restart is told again");
});

test("the button opens the choice of the Python extension, or the setting that stands before it", async () => {
  process.env["PATH"] = editor.folder;
  stage.press = "Choose the Interpreter";
  await editor.start({});
  await until("the settings", () => stage.executed.length === 1);
  assert.deepEqual(stage.executed[0], ["workbench.action.openSettings", "tritonlint.interpreter"]);
  stage.python = { path: "/none", changes: new stub.EventEmitter() };
  await stub.commands.executeCommand("tritonlint.restart");
  assert.ok(stage.executed.some(([name]) => name === "python.setInterpreter"));
  stub.change({ path: "/none/tritonlint" });
  await editor.settled();
  assert.deepEqual(stage.executed.at(-1), ["workbench.action.openSettings", "tritonlint.path"]);
});

test("an interpreter without tritonlint: the message names it and the reason", async () => {
  const interpreter = install("python", "--fault=no-version");
  const state = await editor.start({ interpreter });
  assert.equal(state.kind, "error");
  assert.equal(stage.shown.length, 1);
  assert.match(stage.shown[0]!.text, /setting tritonlint\.interpreter says \(.*No module named tritonlint\)/);
});

test("a server that does not start: one message, with its last line", async () => {
  const state = await editor.start({ path: editor.fake("no-start") });
  assert.equal(state.kind, "error");
  assert.equal(stage.shown.length, 1);
  assert.match(stage.shown[0]!.text, /did not start with .*: ModuleNotFoundError: No module named 'pygls'\. .*pip install/);
});

test("a server that ends by itself is started again three times, then no more", async () => {
  await editor.start({ path: editor.fake("crash") });
  editor.open("kernel.py");
  await until("giving up", () => editor.state().kind === "error");
  await editor.settled();
  assert.equal(editor.starts().length, 4);
  assert.equal(stage.shown.length, 1);
  assert.match(stage.shown[0]!.text, /ended 4 times in three minutes, the last time with: RuntimeError: broken on purpose/);
});

test("a server that does not answer can be replaced", async () => {
  void editor.start({ path: editor.fake("mute") });
  await until("the start", () => editor.sent("initialize").length === 1);
  const pid = editor.starts()[0]!.started;
  stub.change({ path: editor.fake() });
  assert.equal((await editor.settled()).kind, "running");
  await until("its end", () => !alive(pid));
  assert.deepEqual(stage.shown, []);
});

test("a server that does not end is ended", async () => {
  await editor.start({ path: editor.fake("stubborn") });
  const pid = editor.starts()[0]!.started;
  stub.change({ path: editor.fake() });
  assert.equal((await editor.settled()).kind, "running");
  assert.equal(alive(pid), false);
});

test("the interpreter of the Python extension runs, and another one when it is chosen", async () => {
  const changes = new stub.EventEmitter();
  stage.python = { path: install("python-one", "--one"), changes };
  const state = await editor.start({});
  assert.ok(state.kind === "running" && state.origin === "the Python extension", JSON.stringify(state));
  assert.deepEqual(editor.starts()[0]!.args, ["--one", "-P", "-m", "tritonlint", "server"]);
  stage.python.path = install("python-two", "--two");
  changes.fire();
  await editor.settled();
  assert.equal(editor.starts()[1]!.args![0], "--two");
});

test("an interpreter without tritonlint gives way to tritonlint on PATH", async () => {
  stage.python = { path: install("python", "--fault=no-version"), changes: new stub.EventEmitter() };
  install("tritonlint");
  process.env["PATH"] = editor.folder;
  const state = await editor.start({});
  assert.ok(state.kind === "running" && state.origin === "PATH", JSON.stringify(state));
  assert.deepEqual(stage.shown, []);
});

test("in a workspace that is not trusted, its interpreter runs only after trust is given", async () => {
  stub.workspace.isTrusted = false;
  stage.python = { path: install("python"), changes: new stub.EventEmitter() };
  process.env["PATH"] = "/nonexistent";
  assert.equal((await editor.start({})).kind, "error");
  assert.match(stage.shown[0]!.text, /not trusted/);
  stub.workspace.isTrusted = true;
  stage.events["trust"]!.fire();
  assert.equal((await editor.settled()).kind, "running");
});

test("a cell of a notebook is no file for a server that does not know notebooks", async () => {
  await editor.start({ path: editor.fake() });
  editor.open("kernels.ipynb", "vscode-notebook-cell");
  const uri = editor.open("kernel.py");
  await until("diagnostics", () => stage.diagnostics.has(uri.toString()));
  assert.equal(editor.sent("textDocument/didOpen").length, 1);
});

test("a trace goes to the log when it is asked for", async () => {
  await editor.start({ path: editor.fake() });
  assert.ok(!stage.log.some((line) => line.includes("textDocument/")));
  stub.change({ "trace.server": "messages" });
  editor.open("kernel.py");
  await until("the trace", () => stage.log.some((line) => line.startsWith("info:") && line.includes("textDocument/didOpen")));
});

test("the documentation of the rule under the cursor", async () => {
  await editor.start({ path: editor.fake() });
  const uri = editor.open("kernel.py");
  await until("diagnostics", () => stage.diagnostics.has(uri.toString()));
  const at = (line: number, character: number) => {
    stub.window.activeTextEditor = { document: { uri }, selection: { active: new stub.Position(line, character) } };
  };
  at(9, 10);
  await stub.commands.executeCommand("tritonlint.openRule");
  const [name, target] = stage.executed.at(-1) as [string, stub.Uri];
  assert.deepEqual([name, target.toString()], ["vscode.open", "file:///rules/TL101"]);
  at(1, 0);
  await stub.commands.executeCommand("tritonlint.openRule");
  assert.match(stage.shown.at(-1)!.text, /no finding of tritonlint under the cursor/);
  stub.languages.getDiagnostics(uri)[0]!.code = "TL101";
  at(9, 10);
  await stub.commands.executeCommand("tritonlint.openRule");
  assert.match(stage.shown.at(-1)!.text, /TL101 comes without a link/);
});

test("fix all asks for the fixes of tritonlint alone", async () => {
  await editor.start({ path: editor.fake() });
  await stub.commands.executeCommand("tritonlint.fixAll");
  const [name, options] = stage.executed.at(-1)!;
  assert.equal(name, "editor.action.codeAction");
  assert.deepEqual(options, { kind: "source.fixAll.tritonlint", apply: "first" });
});
