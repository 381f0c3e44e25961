#!/usr/bin/env node
// Stands for `tritonlint`: tells a version, and serves the language protocol as far as tests need it.
// --record=FILE   every message it gets, one JSON a line
// --fault=WHAT    no-version, no-start, mute, crash (when a file is opened), stubborn (does not end)
import { appendFileSync } from "node:fs";

const given = process.argv.slice(2);
const option = (name) => given.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const fault = option("fault");
const record = (what) => option("record") && appendFileSync(option("record"), `${JSON.stringify(what)}\n`);

if (given.includes("--version")) {
  if (fault === "no-version") {
    console.error("/usr/bin/python: No module named tritonlint");
    process.exit(1);
  }
  console.log("tritonlint 9.8.7");
  process.exit(0);
}
if (fault === "no-start") {
  console.error("Traceback\nModuleNotFoundError: No module named 'pygls'");
  process.exit(1);
}
record({ started: process.pid, args: given.filter((arg) => !arg.startsWith("--record=")), cwd: process.cwd() });
if (fault === "stubborn") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1000);
}

function send(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

const diagnostic = {
  range: { start: { line: 9, character: 8 }, end: { line: 9, character: 32 } },
  severity: 1,
  source: "tritonlint",
  code: "TL101",
  codeDescription: { href: "file:///rules/TL101" },
  message: "`tl.load` reads without a mask",
};

const capabilities = {
  textDocumentSync: { openClose: true, change: 1, save: true },
  hoverProvider: true,
  codeActionProvider: { codeActionKinds: ["quickfix", "source.fixAll.tritonlint"] },
};

const answers = {
  initialize: () => ({ capabilities, serverInfo: { name: "tritonlint", version: "9.8.8" } }),
  shutdown: () => null,
};

function receive(message) {
  record(message);
  if (fault === "mute" || (fault === "stubborn" && message.method === "shutdown")) {
    return;
  }
  const { id, method, params } = message;
  if (method === "exit" && fault !== "stubborn") {
    process.exit(0);
  } else if (method === "textDocument/didOpen" && fault === "crash") {
    console.error("RuntimeError: broken on purpose");
    process.exitCode = 3;
    process.stdin.destroy();
    process.stdout.end();
  } else if (method === "textDocument/didOpen") {
    const { uri } = params.textDocument;
    send({ method: "textDocument/publishDiagnostics", params: { uri, diagnostics: [diagnostic] } });
    send({ id: "ask", method: "workspace/configuration", params: { items: [{ section: "tritonlint" }] } });
  } else if (id !== undefined && method !== undefined) {
    send({ id, result: answers[method]?.() ?? null });
  }
}

let buffer = Buffer.alloc(0);
process.stdin.on("data", (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end))?.[1]);
    if (end < 0 || buffer.length < end + 4 + length) {
      return;
    }
    const text = buffer.subarray(end + 4, end + 4 + length).toString();
    buffer = buffer.subarray(end + 4 + length);
    receive(JSON.parse(text));
  }
});
process.stdin.on("end", () => fault !== "stubborn" && process.exit(process.exitCode ?? 0));
