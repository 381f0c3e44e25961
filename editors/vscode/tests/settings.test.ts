import assert from "node:assert/strict";
import { test } from "node:test";
import { expand, message, readSettings } from "../src/settings";

const PLACES = { workspaceFolder: "/project", userHome: "/home/me", env: { NAME: "value" } };
const read = (settings: Record<string, unknown>) => readSettings((name) => settings[name], PLACES);

test("what is not set is not sent", () => {
  const settings = read({ select: [], ignore: [], minConfidence: null, config: "", evidence: [], run: "onType" });
  assert.deepEqual(message(settings), { tritonlint: { run: "onType" } });
});

test("what is set is sent as it is", () => {
  const given = {
    select: ["TL1"], ignore: ["TL101"], minConfidence: "low", config: "/c.toml", evidence: ["/e.json"], run: "onSave",
  };
  assert.deepEqual(message(read(given)), { tritonlint: given });
});

test("values of the wrong type count as not set", () => {
  const settings = read({ enable: "no", path: 3, interpreter: [], args: "x", select: "ALL", ignore: [1, "TL1"] });
  assert.deepEqual(settings, {
    enable: true, path: [], interpreter: "", args: [], server: { ignore: ["TL1"] },
  });
});

test("only `false` turns it off", () => {
  assert.equal(read({ enable: false }).enable, false);
  assert.equal(read({}).enable, true);
});

test("variables are filled in", () => {
  assert.equal(expand("${workspaceFolder}/a-${env:NAME}${env:NONE}", PLACES), "/project/a-value");
  assert.equal(expand("${userHome}/x", PLACES), "/home/me/x");
  assert.equal(expand("~/x", PLACES), "/home/me/x");
  assert.equal(expand("a~/x${other}", PLACES), "a~/x${other}");
  assert.equal(expand("${workspaceFolder}/x", { ...PLACES, workspaceFolder: undefined }), "${workspaceFolder}/x");
  assert.deepEqual(read({ config: "${workspaceFolder}/t.toml", evidence: ["~/e"] }).server, {
    config: "/project/t.toml", evidence: ["/home/me/e"],
  });
});
