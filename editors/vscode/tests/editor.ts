// Runs the bundled extension in an editor made of `stub/vscode.ts`.

import { mkdtempSync, existsSync, readFileSync, rmSync } from "node:fs";
import Module from "node:module";
import { tmpdir } from "node:os";
import * as path from "node:path";
import type { State } from "../src/status";
import * as stub from "./stub/vscode";

export { stub };
export const ROOT = process.cwd();
export const FAKE = path.join(ROOT, "tests", "fake_server.mjs");

/** Names that the language client only extends or never reaches are empty classes. */
const rest: Record<PropertyKey, unknown> = {};
const whole = new Proxy(stub as Record<PropertyKey, unknown>, {
  get: (known, name) => (name in known ? known[name] : (rest[name] ??= class {})),
});
const loader = Module as unknown as { _load: (name: string, ...others: unknown[]) => unknown };
const load = loader._load;
loader._load = (name, ...others) => (name === "vscode" ? whole : load(name, ...others));

interface Extension {
  activate(context: { subscriptions: { dispose(): unknown }[] }): { idle(): Promise<void>; state(): State };
  deactivate(): Promise<void>;
}
const extension = load(path.join(ROOT, "out", "extension.js"), module, false) as Extension;

export interface Message {
  method?: string;
  id?: unknown;
  params?: any;
  result?: any;
  started?: number;
  args?: string[];
  cwd?: string;
}

export class Editor {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tritonlint-"));
  readonly record = path.join(this.folder, "record.jsonl");
  private readonly context = { subscriptions: [] as { dispose(): unknown }[] };
  private api: ReturnType<Extension["activate"]> | undefined;

  constructor() {
    stub.reset();
    stub.workspace.workspaceFolders = [{ uri: stub.Uri.file(this.folder), name: "one", index: 0 }];
  }

  /** The setting `tritonlint.path` that runs the stand-in for tritonlint. */
  fake(fault = "none"): string[] {
    return [process.execPath, FAKE, `--record=${this.record}`, `--fault=${fault}`];
  }

  async start(settings: Record<string, unknown>): Promise<State> {
    stub.stage.settings = { ...settings };
    this.api = extension.activate(this.context);
    return this.settled();
  }

  /** The state when nothing is left to do. */
  async settled(): Promise<State> {
    await this.api!.idle();
    return this.api!.state();
  }

  state(): State {
    return this.api!.state();
  }

  open(name: string, scheme = "file"): stub.Uri {
    const uri = new stub.Uri(scheme, path.join(this.folder, name));
    const document = { uri, languageId: "python", version: 1, getText: () => "import triton\n", fileName: uri.path };
    stub.workspace.textDocuments.push(document);
    stub.stage.events["open"]?.fire(document);
    return uri;
  }

  /** What the servers of this editor were sent, in order. */
  sent(method?: string): Message[] {
    const lines = existsSync(this.record) ? readFileSync(this.record, "utf8").trim().split("\n") : [];
    const all = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Message);
    return method === undefined ? all : all.filter((message) => message.method === method);
  }

  starts(): Message[] {
    return this.sent().filter(({ started }) => started !== undefined);
  }

  async close(): Promise<void> {
    await extension.deactivate();
    this.context.subscriptions.forEach((one) => one.dispose());
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > deadline) {
      throw new Error(`waited in vain: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
