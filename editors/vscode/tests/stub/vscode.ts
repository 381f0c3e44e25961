// The part of the interface of VS Code that the extension and its language client use, as far as tests need it.

type Listener = (event: any) => unknown;

export class Disposable {
  constructor(private readonly end: () => unknown = () => undefined) {}
  dispose(): void {
    this.end();
  }
  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
}

export class EventEmitter {
  private readonly listeners = new Set<Listener>();
  event = (listener: Listener, self?: unknown): Disposable => {
    const bound = self === undefined ? listener : listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(event?: unknown): void {
    [...this.listeners].forEach((listener) => listener(event));
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  cancel(): void {
    this.token.isCancellationRequested = true;
  }
  dispose(): void {
    this.cancel();
  }
}

export class Uri {
  constructor(readonly scheme: string, readonly path: string, readonly fragment = "") {}
  static file = (path: string) => new Uri("file", path);
  static parse = (text: string) => {
    const [, scheme = "", path = ""] = /^([\w-]+):(?:\/\/)?(.*)$/.exec(text) ?? [];
    return new Uri(scheme, path);
  };
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
}

export class Position {
  constructor(readonly line: number, readonly character: number) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(a: any, b: any, c?: number, d?: number) {
    this.start = c === undefined ? a : new Position(a, b);
    this.end = c === undefined ? b : new Position(c, d!);
  }
  contains({ line, character }: Position): boolean {
    const after = line > this.start.line || (line === this.start.line && character >= this.start.character);
    const before = line < this.end.line || (line === this.end.line && character <= this.end.character);
    return after && before;
  }
}

export class Diagnostic {
  source?: string;
  code?: unknown;
  constructor(readonly range: Range, readonly message: string, readonly severity?: number) {}
}

export class CodeActionKind {
  static readonly Empty = new CodeActionKind("");
  constructor(readonly value: string) {}
  append(part: string): CodeActionKind {
    return new CodeActionKind(this.value === "" ? part : `${this.value}.${part}`);
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export const LogLevel = { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const version = "1.91.0";

/** What tests set, and what they look at afterwards. */
export const stage = {
  settings: {} as Record<string, unknown>,
  python: undefined as undefined | { path: string; changes: EventEmitter },
  shown: [] as { text: string; buttons: string[] }[],
  /** The button that is pressed in the next message. */
  press: undefined as string | undefined,
  executed: [] as unknown[][],
  log: [] as string[],
  logShown: 0,
  items: [] as Record<string, any>[],
  diagnostics: new Map<string, Diagnostic[]>(),
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  watchers: 0,
  events: {} as Record<string, EventEmitter>,
};

export function reset(): void {
  Object.assign(stage, {
    settings: {}, python: undefined, shown: [], press: undefined, executed: [], log: [], logShown: 0, items: [],
    diagnostics: new Map(), commands: new Map(), watchers: 0, events: {},
  });
  Object.assign(workspace, { isTrusted: true, workspaceFolders: undefined, textDocuments: [], notebookDocuments: [] });
  window.activeTextEditor = undefined;
}

function event(name: string): EventEmitter["event"] {
  return (listener, self) => (stage.events[name] ??= new EventEmitter()).event(listener, self);
}

/** Change settings as a user does, and tell who listens. */
export function change(settings: Record<string, unknown>): void {
  Object.assign(stage.settings, settings);
  const names = Object.keys(settings).map((name) => `tritonlint.${name}`);
  stage.events["configuration"]?.fire({
    affectsConfiguration: (asked: string) => names.some((name) => name === asked || name.startsWith(`${asked}.`)),
  });
}

function section(prefix: string | undefined) {
  const full = (name: string) => (prefix === undefined ? name : `${prefix}.${name}`).replace(/^tritonlint\./, "");
  return {
    get: (name: string, fallback?: unknown) =>
      full(name) === "tritonlint" ? { ...stage.settings } : (stage.settings[full(name)] ?? fallback),
    has: (name: string) => full(name) in stage.settings,
  };
}

function tell(text: string, ...buttons: string[]): Promise<string | undefined> {
  stage.shown.push({ text, buttons });
  return Promise.resolve(stage.press);
}

const write = (level: string) => (text: unknown) => void stage.log.push(`${level}: ${String(text)}`);

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as undefined | { uri: Uri; name: string; index: number }[],
  textDocuments: [] as any[],
  notebookDocuments: [] as any[],
  getConfiguration: section,
  createFileSystemWatcher: () => {
    stage.watchers += 1;
    const none = () => new Disposable();
    return { onDidCreate: none, onDidChange: none, onDidDelete: none, dispose: () => void (stage.watchers -= 1) };
  },
  applyEdit: async () => true,
  onDidChangeConfiguration: event("configuration"),
  onDidGrantWorkspaceTrust: event("trust"),
  onDidChangeWorkspaceFolders: event("folders"),
  onDidOpenTextDocument: event("open"),
  onDidChangeTextDocument: event("change"),
  onDidCloseTextDocument: event("close"),
  onDidSaveTextDocument: event("save"),
  onWillSaveTextDocument: event("willSave"),
  onDidOpenNotebookDocument: event("openNotebook"),
  onDidChangeNotebookDocument: event("changeNotebook"),
  onDidCloseNotebookDocument: event("closeNotebook"),
  onDidSaveNotebookDocument: event("saveNotebook"),
};

export const window = {
  activeTextEditor: undefined as any,
  visibleTextEditors: [] as any[],
  tabGroups: { all: [], onDidChangeTabs: event("tabs") },
  onDidChangeActiveTextEditor: event("active"),
  onDidChangeVisibleTextEditors: event("visible"),
  showErrorMessage: tell,
  showWarningMessage: tell,
  showInformationMessage: tell,
  createStatusBarItem: () => {
    const item = { visible: false, show: () => void (item.visible = true), dispose: () => void (item.visible = false) };
    stage.items.push(item);
    return item;
  },
  createOutputChannel: () => ({
    logLevel: LogLevel.Info,
    onDidChangeLogLevel: event("logLevel"),
    trace: write("trace"), debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error"),
    append: write("text"), appendLine: write("text"),
    show: () => void (stage.logShown += 1),
    dispose: () => undefined,
  }),
};

export const commands = {
  registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
    if (stage.commands.has(name)) {
      throw new Error(`command ${name} exists already`);
    }
    stage.commands.set(name, run);
    return new Disposable(() => stage.commands.delete(name));
  },
  executeCommand: async (...call: unknown[]) => {
    stage.executed.push(call);
    return stage.commands.get(String(call[0]))?.(...call.slice(1));
  },
};

const matches = (filter: any, document: any) =>
  (filter.scheme === undefined || filter.scheme === document.uri.scheme) &&
  (filter.language === undefined || filter.language === document.languageId);

const provider = () => new Disposable();

export const languages = {
  match: (selector: any, document: any) =>
    [selector].flat().some((filter) => typeof filter === "object" && matches(filter, document)) ? 10 : 0,
  getDiagnostics: (uri: Uri) => stage.diagnostics.get(uri.toString()) ?? [],
  createDiagnosticCollection: () => ({
    set: (uri: Uri, found: Diagnostic[]) => void stage.diagnostics.set(uri.toString(), found ?? []),
    delete: (uri: Uri) => void stage.diagnostics.delete(uri.toString()),
    clear: () => stage.diagnostics.clear(),
    dispose: () => stage.diagnostics.clear(),
  }),
  registerHoverProvider: provider,
  registerCodeActionsProvider: provider,
};

export const env = { appName: "stub", language: "en", openExternal: async () => true };

export const extensions = {
  getExtension: () => {
    const { python } = stage;
    if (python === undefined) {
      return undefined;
    }
    const environments = {
      getActiveEnvironmentPath: () => ({ path: python.path }),
      resolveEnvironment: async ({ path }: { path: string }) => ({ executable: { uri: Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: python.changes.event,
    };
    return { isActive: false, activate: async () => ({ environments }) };
  },
};
