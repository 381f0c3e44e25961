// The item in the status bar: which server runs, or why none does.

import * as vscode from "vscode";

export type State =
  | { kind: "starting"; command?: string }
  | { kind: "running"; command: string; origin: string; version: string }
  | { kind: "stopped"; why: string }
  | { kind: "error"; message: string; command?: string };

export interface Look {
  text: string;
  tooltip: string;
  alarming: boolean;
}

const ICONS = { starting: "$(loading~spin)", running: "$(check)", stopped: "$(circle-slash)", error: "$(error)" };

export function look(state: State): Look {
  return {
    text: `${ICONS[state.kind]} tritonlint`,
    tooltip: [...lines(state), "Click to show the log."].join("\n"),
    alarming: state.kind === "error",
  };
}

function lines(state: State): string[] {
  const command = "command" in state && state.command !== undefined ? [state.command] : [];
  switch (state.kind) {
    case "starting":
      return ["tritonlint is starting.", ...command];
    case "running":
      return [`tritonlint ${state.version} is running.`, `${state.command} (from ${state.origin})`];
    case "stopped":
      return [`tritonlint is stopped: ${state.why}.`];
    case "error":
      return [state.message, ...command];
  }
}

export class StatusItem {
  private readonly item = vscode.window.createStatusBarItem("tritonlint.status", vscode.StatusBarAlignment.Right, 0);

  constructor() {
    this.item.name = "tritonlint";
    this.item.command = "tritonlint.showLog";
    this.item.show();
  }

  set(state: State): void {
    const { text, tooltip, alarming } = look(state);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip, role: "button" };
    this.item.backgroundColor = alarming ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}
