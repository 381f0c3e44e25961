// The life of the server: found, started, stopped, started anew, and given up on.

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  RevealOutputChannelOn,
} from "vscode-languageclient/node";
import { type Command, serverArguments, show } from "./command";
import * as messages from "./messages";
import { probe } from "./probe";
import { message, type Settings } from "./settings";
import type { State } from "./status";

export interface Host {
  log: vscode.LogOutputChannel;
  trace: vscode.LogOutputChannel;
  settings(): Settings;
  candidates(settings: Settings): Promise<Command[]>;
  cwd(): string;
  trusted(): boolean;
  setState(state: State): void;
  /** Tell the user what is wrong and what can be done. */
  complain(text: string): void;
}

const CELL = "vscode-notebook-cell";
const MAX_CRASHES = 3;
const CRASH_WINDOW = 3 * 60_000;
const START_PATIENCE = 60_000;
const STOP_PATIENCE = 2_000;

/** Writes its errors to the log, and leaves it to `Server` what is shown. */
class QuietClient extends LanguageClient {
  override error(text: string, data?: unknown): void {
    super.error(text, data, false);
  }
}

export class Server {
  private client: QuietClient | undefined;
  private jobs: Promise<void> = Promise.resolve();
  private restartWaits = false;
  private interrupt = new AbortController();
  private crashes: number[] = [];
  private lastComplaint = "";
  private stderr = "";
  private child: ChildProcess | undefined;
  private readonly watcher = vscode.workspace.createFileSystemWatcher("**/{pyproject.toml,tritonlint.toml}");

  constructor(private readonly host: Host) {}

  /** Stop what runs and start what the settings say now. Several calls at once lead to one restart. */
  restart(why: string): Promise<void> {
    this.interrupt.abort();
    if (!this.restartWaits) {
      this.restartWaits = true;
      this.host.log.info(`Starting the server: ${why}.`);
      this.enqueue(async () => {
        this.restartWaits = false;
        this.interrupt = new AbortController();
        await this.end();
        await this.begin(this.interrupt.signal);
      });
    }
    return this.jobs;
  }

  /** As `restart`, and forget what went wrong before: the user asks for it. */
  restartAsAsked(): Promise<void> {
    this.crashes = [];
    this.lastComplaint = "";
    return this.restart("the user asks for it");
  }

  stop(): Promise<void> {
    this.interrupt.abort();
    this.enqueue(() => this.end());
    return this.jobs;
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.watcher.dispose();
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    let seen: Promise<void> | undefined;
    while (seen !== this.jobs) {
      seen = this.jobs;
      await seen;
    }
  }

  /** Send the settings of the server, if one runs. */
  async configure(): Promise<void> {
    if (this.client?.isRunning()) {
      await this.client.sendNotification(DidChangeConfigurationNotification.type, {
        settings: message(this.host.settings()),
      });
    }
  }

  private enqueue(job: () => Promise<void>): void {
    this.jobs = this.jobs.then(job).catch((error: unknown) => this.host.log.error(String(error)));
  }

  private async begin(interrupted: AbortSignal): Promise<void> {
    const settings = this.host.settings();
    if (!settings.enable) {
      this.host.setState({ kind: "stopped", why: "the setting tritonlint.enable is off" });
      return;
    }
    this.host.setState({ kind: "starting" });
    const found = await this.find(settings);
    if (found === undefined || interrupted.aborted) {
      return;
    }
    const { command, version } = found;
    const line = show(command.program, serverArguments(command, settings));
    this.host.setState({ kind: "starting", command: line });
    this.host.log.info(`${line} (from ${command.origin}, version ${version})`);
    const client = this.makeClient(command, settings);
    try {
      await inTime(client.start(), interrupted);
    } catch (error) {
      this.child?.kill();
      if (!interrupted.aborted) {
        const reason = messages.lastLine(this.stderr, error instanceof Error ? error.message : String(error));
        this.fail(messages.notStarted(command, reason), line);
      }
      return;
    }
    this.client = client;
    this.lastComplaint = "";
    this.host.setState({
      kind: "running",
      command: line,
      origin: command.origin,
      version: client.initializeResult?.serverInfo?.version ?? version,
    });
  }

  private async end(): Promise<void> {
    const { client, child } = this;
    this.client = undefined;
    this.child = undefined;
    if (client !== undefined) {
      try {
        await client.dispose(STOP_PATIENCE);
      } catch (error) {
        this.host.log.warn(`The server did not stop in order: ${String(error)}`);
      }
    }
    await gone(child);
    this.host.setState({ kind: "stopped", why: "it was ended" });
  }

  /** The first candidate that tells its version. */
  private async find(settings: Settings): Promise<{ command: Command; version: string } | undefined> {
    const commands = await this.host.candidates(settings);
    const attempts: messages.Attempt[] = [];
    for (const command of commands) {
      const answer = await probe(command, this.host.cwd());
      if ("version" in answer) {
        return { command, version: answer.version };
      }
      this.host.log.warn(`${command.program} (from ${command.origin}): ${answer.reason}`);
      attempts.push({ command, reason: answer.reason });
    }
    const refused = commands.length === 0 && !this.host.trusted();
    this.fail(refused ? messages.notAllowed() : messages.notInstalled(attempts));
    return undefined;
  }

  /** Say it once: the same complaint again, from another restart, is only logged. */
  private fail(text: string, command?: string): void {
    this.host.setState({ kind: "error", message: text, ...(command === undefined ? {} : { command }) });
    this.host.log.error(text);
    if (text !== this.lastComplaint) {
      this.lastComplaint = text;
      this.host.complain(text);
    }
  }

  /** The connection is gone although nobody asked for that. */
  private lost(client: QuietClient): void {
    if (client !== this.client) {
      return; // it never ran, and `begin` says so; or it is being stopped
    }
    this.client = undefined;
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < CRASH_WINDOW), now];
    if (this.crashes.length > MAX_CRASHES) {
      this.fail(messages.crashed(this.crashes.length, messages.lastLine(this.stderr, "")));
    } else {
      void this.restart("it ended by itself");
    }
  }

  private makeClient(command: Command, settings: Settings): QuietClient {
    const client: QuietClient = new QuietClient(
      "tritonlint",
      "tritonlint",
      () => this.launch(command, settings),
      this.options(() => client),
    );
    return client;
  }

  private launch(command: Command, settings: Settings): Promise<ChildProcess> {
    this.stderr = "";
    this.child = undefined;
    return new Promise((resolve, reject) => {
      const child = spawn(command.program, serverArguments(command, settings), {
        cwd: this.host.cwd(),
        windowsHide: true,
      });
      child.stderr.on("data", (data: Buffer) => {
        this.stderr = (this.stderr + data.toString()).slice(-4000);
      });
      child.once("error", reject);
      child.once("spawn", () => {
        this.child = child;
        resolve(child);
      });
    });
  }

  private options(client: () => QuietClient): LanguageClientOptions {
    return {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: CELL, language: "python" },
      ],
      diagnosticCollectionName: "tritonlint",
      outputChannel: this.host.log,
      traceOutputChannel: this.host.trace,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: () => message(this.host.settings()),
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.lost(client());
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      synchronize: { fileEvents: this.watcher },
      middleware: this.middleware(client),
    };
  }

  private middleware(client: () => QuietClient): Middleware {
    // A cell is part of a notebook, and no file of its own: a server that does not know notebooks is not told of it.
    const unknown = ({ uri }: vscode.TextDocument) =>
      uri.scheme === CELL && client().initializeResult?.capabilities.notebookDocumentSync === undefined;
    return {
      didOpen: async (document, next) => (unknown(document) ? undefined : next(document)),
      didChange: async (event, next) => (unknown(event.document) ? undefined : next(event)),
      didSave: async (document, next) => (unknown(document) ? undefined : next(document)),
      didClose: async (document, next) => (unknown(document) ? undefined : next(document)),
      provideHover: (document, position, token, next) =>
        unknown(document) ? undefined : next(document, position, token),
      provideCodeActions: (document, range, context, token, next) =>
        unknown(document) ? undefined : next(document, range, context, token),
      workspace: {
        // What the server asks for is what it is sent: without the settings that only this side reads.
        configuration: (params, token, next) =>
          params.items.every(({ section }) => section === "tritonlint")
            ? params.items.map(() => message(this.host.settings()).tritonlint)
            : next(params, token),
        didChangeConfiguration: async () => this.configure(),
      },
    };
  }
}

/** Wait for the end of a process, and bring it about if it does not come. */
function gone(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function inTime(start: Promise<void>, interrupted: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the server does not answer")), START_PATIENCE);
    interrupted.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
    start.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
