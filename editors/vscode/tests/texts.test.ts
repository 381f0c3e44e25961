import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "../src/command";
import * as messages from "../src/messages";
import { look, type State } from "../src/status";

const command = (origin: Command["origin"]): Command => ({ program: "/bin/python", first: ["-m", "tritonlint"], origin });

const STATES: [State, string, string, boolean][] = [
  [{ kind: "starting" }, "$(loading~spin) tritonlint", "tritonlint is starting.", false],
  [{ kind: "starting", command: "x server" }, "$(loading~spin) tritonlint", "tritonlint is starting.\nx server", false],
  [
    { kind: "running", command: "x server", origin: "PATH", version: "1.2" },
    "$(check) tritonlint", "tritonlint 1.2 is running.\nx server (from PATH)", false,
  ],
  [{ kind: "stopped", why: "it was ended" }, "$(circle-slash) tritonlint", "tritonlint is stopped: it was ended.", false],
  [{ kind: "error", message: "It broke.", command: "x" }, "$(error) tritonlint", "It broke.\nx", true],
];

for (const [state, text, tooltip, alarming] of STATES) {
  test(`the status "${state.kind}" says: ${tooltip.replaceAll("\n", " / ")}`, () => {
    assert.deepEqual(look(state), { text, tooltip: `${tooltip}\nClick to show the log.`, alarming });
  });
}

test("a server that is missing: what is so and what to do", () => {
  assert.match(messages.notInstalled([]), /not on PATH\. Run pip install 'tritonlint\[lsp\]', or choose/);
  assert.match(
    messages.notInstalled([{ command: command("the Python extension"), reason: "No module named tritonlint" }]),
    /does not run with \/bin\/python \(No module named tritonlint\)\. Run pip install/,
  );
  for (const origin of ["tritonlint.path", "tritonlint.interpreter"] as const) {
    const text = messages.notInstalled([{ command: command(origin), reason: "it does not exist" }]);
    assert.ok(text.includes(`as the setting ${origin} says (it does not exist)`), text);
  }
});

test("a server that says itself what to install is not contradicted", () => {
  const text = messages.notStarted(command("PATH"), `it needs pygls: ${messages.INSTALL}`);
  assert.equal(text.split(messages.INSTALL).length, 2);
  assert.match(messages.notStarted(command("PATH"), "exit code 1"), /exit code 1\. If it is not installed there, run pip/);
});

test("the last line of an error output, not too long", () => {
  assert.equal(messages.lastLine("Traceback\n  x\nImportError: no\n\n", "?"), "ImportError: no");
  assert.equal(messages.lastLine(" \n", "exit code 1"), "exit code 1");
  assert.equal(messages.lastLine("x".repeat(500), "").length, 200);
});
