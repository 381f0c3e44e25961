// What package.json declares, what the code reads, and what the README tells, are the same.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import manifest from "../package.json";
import { message, readSettings, RESTARTING_SETTINGS, SERVER_SETTINGS, TRACE_SETTING } from "../src/settings";

type Property = { type: string | string[]; default: unknown; scope: string; enum?: unknown[] };
const DECLARED = manifest.contributes.configuration.properties as Record<string, Property>;
const NAMES = Object.keys(DECLARED).map((name) => name.replace(/^tritonlint\./, ""));
const SOURCE = readdirSync("src").map((name) => readFileSync(`src/${name}`, "utf8")).join("\n");
const README = readFileSync("README.md", "utf8");
const places = { workspaceFolder: undefined, userHome: "/", env: {} };

/** A value that the setting takes and that is not its default. */
function other(name: string): unknown {
  const { type, default: usual, enum: allowed } = DECLARED[`tritonlint.${name}`]!;
  if (allowed !== undefined) {
    return allowed.find((value) => value !== usual && value !== null);
  }
  return [type].flat().includes("array") ? ["x"] : type === "boolean" ? !usual : "x";
}

test("every declared setting is read, and every setting that is read is declared", () => {
  const asked = new Set<string>([TRACE_SETTING]);
  readSettings((name) => void asked.add(name), places);
  assert.deepEqual([...asked].sort(), [...NAMES].sort());
  assert.deepEqual([...RESTARTING_SETTINGS, ...SERVER_SETTINGS, TRACE_SETTING].sort(), [...NAMES].sort());
});

test("each setting changes what is read", () => {
  const usual = readSettings((name) => DECLARED[`tritonlint.${name}`]!.default, places);
  for (const name of NAMES.filter((each) => each !== TRACE_SETTING)) {
    const value = (each: string) => (each === name ? other(name) : DECLARED[`tritonlint.${each}`]!.default);
    assert.notDeepEqual(readSettings(value, places), usual, name);
  }
});

test("what is sent is what is declared for the server", () => {
  const everything = readSettings((name) => other(name), places);
  assert.deepEqual(Object.keys(message(everything).tritonlint), [...SERVER_SETTINGS]);
  const usual = readSettings((name) => DECLARED[`tritonlint.${name}`]!.default, places);
  assert.deepEqual(message(usual), { tritonlint: { run: "onType" } });
});

test("what names a program is not taken from a workspace that is not trusted", () => {
  const { restrictedConfigurations, supported } = manifest.capabilities.untrustedWorkspaces;
  assert.equal(supported, "limited");
  assert.deepEqual(restrictedConfigurations, ["tritonlint.path", "tritonlint.interpreter", "tritonlint.args"]);
  for (const name of restrictedConfigurations) {
    assert.equal(DECLARED[name]!.scope, "machine-overridable");
  }
  assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
});

test("every declared command is registered, and the other way round", () => {
  const registered = [...SOURCE.matchAll(/registerCommand\("([\w.]+)"/g)].map(([, name]) => name);
  assert.deepEqual(registered.sort(), manifest.contributes.commands.map(({ command }) => command).sort());
});

test("the README names every setting and every command", () => {
  for (const name of Object.keys(DECLARED)) {
    assert.ok(README.includes(`\`${name}\``), name);
  }
  for (const { category, title } of manifest.contributes.commands) {
    assert.ok(README.includes(`${category}: ${title}`), title);
  }
});
