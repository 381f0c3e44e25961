// What the user set, read once and given its types. No import of `vscode`: tests hand in plain values.

import * as path from "node:path";

/** The settings under `tritonlint` that the language server gets. */
export const SERVER_SETTINGS = ["select", "ignore", "minConfidence", "config", "evidence", "run"] as const;

/** The settings that say which program runs, and how: a change of one starts the server anew. */
export const RESTARTING_SETTINGS = ["enable", "path", "interpreter", "args"] as const;

/** The setting that only this side of the connection reads. */
export const TRACE_SETTING = "trace.server";

export interface ServerSettings {
  select?: string[];
  ignore?: string[];
  minConfidence?: string;
  config?: string;
  evidence?: string[];
  run?: string;
}

export interface Settings {
  enable: boolean;
  /** A command and its first arguments; empty if it is to be found. */
  path: string[];
  interpreter: string;
  args: string[];
  server: ServerSettings;
}

/** What `${...}` in a setting stands for. */
export interface Places {
  workspaceFolder: string | undefined;
  userHome: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Read a setting by its name without `tritonlint.`; what is of the wrong type counts as not set. */
export type Get = (name: string) => unknown;

export function readSettings(get: Get, places: Places): Settings {
  const text = (name: string): string => {
    const value = get(name);
    return typeof value === "string" ? expand(value.trim(), places) : "";
  };
  const list = (name: string): string[] => {
    const value = get(name);
    const texts = Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
    return texts.map((item) => expand(item, places));
  };
  const command = list("path");
  return {
    enable: get("enable") !== false,
    path: command.length > 0 ? command : [text("path")].filter((part) => part !== ""),
    interpreter: text("interpreter"),
    args: list("args"),
    server: onlyWhatIsSet({
      select: list("select"),
      ignore: list("ignore"),
      minConfidence: text("minConfidence"),
      config: text("config"),
      evidence: list("evidence"),
      run: text("run"),
    }),
  };
}

/** What is empty is left to the configuration of the project, and not sent. */
function onlyWhatIsSet(settings: Required<ServerSettings>): ServerSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value.length > 0));
}

/** The form in which settings travel, in `initializationOptions` and in `workspace/didChangeConfiguration`. */
export function message(settings: Settings): { tritonlint: ServerSettings } {
  return { tritonlint: settings.server };
}

export function expand(text: string, places: Places): string {
  const filled = text.replace(/\$\{(workspaceFolder|userHome|env:([^}]*))\}/g, (whole, what: string, name?: string) => {
    if (what === "workspaceFolder") {
      return places.workspaceFolder ?? whole;
    }
    return what === "userHome" ? places.userHome : (places.env[name ?? ""] ?? "");
  });
  return /^~[/\\]/.test(filled) ? path.join(places.userHome, filled.slice(2)) : filled;
}
