// Puts the parts together: settings, status, commands, and the events that start the server anew.

import { homedir } from "node:os";
import * as vscode from "vscode";
import { candidates, findOnPath } from "./command";
import * as messages from "./messages";
import { isProgram } from "./probe";
import { activeInterpreter, chooseInterpreter, onInterpreterChange } from "./python";
import { fixAll, openRule } from "./rule";
import { Server } from "./server";
import { readSettings, RESTARTING_SETTINGS, type Settings } from "./settings";
import { type State, StatusItem } from "./status";
import { Trace } from "./trace";

let server: Server | undefined;

/** What other code, tests above all, may know of the extension. */
export interface Api {
  /** Resolves when the server is up, or has been given up. */
  idle(): Promise<void>;
  state(): State;
}

export function activate(context: vscode.ExtensionContext): Api {
  const log = vscode.window.createOutputChannel("tritonlint", { log: true });
  const status = new StatusItem();
  const trace = new Trace(log);
  let state: State = { kind: "stopped", why: "it has not been started" };
  const running = new Server({
    log,
    trace: trace.channel,
    settings,
    cwd: () => folders()[0] ?? homedir(),
    trusted: () => vscode.workspace.isTrusted,
    candidates: async (asked) =>
      candidates(asked, {
        trusted: vscode.workspace.isTrusted,
        folders: folders(),
        activeInterpreter: isLeftOpen(asked) ? await chosenInterpreter(log) : undefined,
        find: (name) => findOnPath(name, process.env, process.platform, isProgram),
      }),
    setState: (next) => {
      state = next;
      status.set(next);
    },
    complain: (text) => void complain(text, log),
  });
  server = running;

  const settingsChange = (event: vscode.ConfigurationChangeEvent) => {
    if (RESTARTING_SETTINGS.some((name) => event.affectsConfiguration(`tritonlint.${name}`))) {
      void running.restart("a setting changed");
    } else if (event.affectsConfiguration("tritonlint")) {
      trace.refresh();
      running.configure().catch((error: unknown) => log.error(`Sending the settings failed: ${String(error)}`));
    }
  };
  context.subscriptions.push(
    log,
    status,
    trace,
    vscode.commands.registerCommand("tritonlint.restart", () => running.restartAsAsked()),
    vscode.commands.registerCommand("tritonlint.showLog", () => log.show()),
    vscode.commands.registerCommand("tritonlint.fixAll", fixAll),
    vscode.commands.registerCommand("tritonlint.openRule", openRule),
    vscode.workspace.onDidChangeConfiguration(settingsChange),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.restart("the workspace is trusted now")),
  );
  void followInterpreter(context, running, log);
  void running.restart("the extension is active");
  return { idle: () => running.idle(), state: () => state };
}

export async function deactivate(): Promise<void> {
  await server?.dispose();
  server = undefined;
}

function folders(): string[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

function settings(): Settings {
  const section = vscode.workspace.getConfiguration("tritonlint");
  const places = { workspaceFolder: folders()[0], userHome: homedir(), env: process.env };
  return readSettings((name) => section.get(name), places);
}

/** Whether no setting says what to run, so that the choice in the Python extension counts. */
function isLeftOpen(asked: Settings): boolean {
  return asked.path.length === 0 && asked.interpreter === "";
}

async function chosenInterpreter(log: vscode.LogOutputChannel): Promise<string | undefined> {
  if (!vscode.workspace.isTrusted) {
    return undefined;
  }
  try {
    return await activeInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri);
  } catch (error) {
    log.warn(`The Python extension does not tell its interpreter: ${String(error)}`);
    return undefined;
  }
}

async function followInterpreter(
  context: vscode.ExtensionContext,
  running: Server,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const changed = () => {
    if (vscode.workspace.isTrusted && isLeftOpen(settings())) {
      void running.restart("another interpreter was chosen");
    }
  };
  try {
    const listening = await onInterpreterChange(changed);
    context.subscriptions.push(...(listening === undefined ? [] : [listening]));
  } catch (error) {
    log.warn(`The Python extension does not tell of changes: ${String(error)}`);
  }
}

async function complain(text: string, log: vscode.LogOutputChannel): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(text, messages.CHOOSE_INTERPRETER, messages.SHOW_LOG);
  if (chosen === messages.SHOW_LOG) {
    log.show();
  } else if (chosen === messages.CHOOSE_INTERPRETER) {
    const asked = settings();
    const overriding = asked.path.length > 0 ? "tritonlint.path" : "tritonlint.interpreter";
    await chooseInterpreter(isLeftOpen(asked) ? undefined : overriding);
  }
}
