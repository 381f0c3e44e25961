// The language client writes its trace only to a channel whose log level is `Trace`. This one is, whenever the
// setting `tritonlint.trace.server` asks for a trace, and it writes to the log, whatever the level of that is.

import * as vscode from "vscode";
import { TRACE_SETTING } from "./settings";

export class Trace {
  private readonly levels = new vscode.EventEmitter<vscode.LogLevel>();
  readonly channel: vscode.LogOutputChannel;

  constructor(log: vscode.LogOutputChannel) {
    this.channel = Object.create(log, {
      logLevel: { get: () => this.level() },
      onDidChangeLogLevel: { value: this.levels.event },
      trace: { value: (text: string) => log.info(text) },
    }) as vscode.LogOutputChannel;
  }

  /** To be called when the setting may have changed. */
  refresh(): void {
    this.levels.fire(this.level());
  }

  private level(): vscode.LogLevel {
    const asked = vscode.workspace.getConfiguration("tritonlint").get<string>(TRACE_SETTING, "off");
    return asked === "off" ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
  }

  dispose(): void {
    this.levels.dispose();
  }
}
