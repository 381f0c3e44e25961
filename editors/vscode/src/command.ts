// Which command line runs. No import of `vscode`, and nothing is run here.

import * as path from "node:path";
import type { Settings } from "./settings";

export type Origin = "tritonlint.path" | "tritonlint.interpreter" | "the Python extension" | "PATH";

export interface Command {
  program: string;
  /** What stands before `server` or `--version`. */
  first: string[];
  origin: Origin;
}

export interface Surroundings {
  /** Whether the user trusts the workspace. */
  trusted: boolean;
  folders: readonly string[];
  /** The interpreter chosen in the Python extension, if there is one. */
  activeInterpreter: string | undefined;
  /** Where a program is on `PATH`, as an absolute path. */
  find: (name: string) => string | undefined;
}

/**
 * The commands to try, best first. What the user names is the only one; else the chosen interpreter comes before `PATH`.
 * In a workspace that is not trusted, nothing that lies in it runs, and nothing that its files can have chosen.
 */
export function candidates(settings: Settings, around: Surroundings): Command[] {
  const allowed = (command: Command) =>
    around.trusted || !around.folders.some((folder) => isInside(folder, command.program));
  return wanted(settings, around).filter(allowed);
}

function wanted(settings: Settings, around: Surroundings): Command[] {
  const [program, ...first] = settings.path;
  if (program !== undefined) {
    return [{ program: locate(program, around), first, origin: "tritonlint.path" }];
  }
  if (settings.interpreter !== "") {
    return [withPython(locate(settings.interpreter, around), "tritonlint.interpreter")];
  }
  const commands: Command[] = [];
  if (around.trusted && around.activeInterpreter !== undefined) {
    commands.push(withPython(around.activeInterpreter, "the Python extension"));
  }
  const found = around.find("tritonlint");
  if (found !== undefined) {
    commands.push({ program: found, first: [], origin: "PATH" });
  }
  return commands;
}

/** `-P` keeps Python from importing modules that lie in the folder it is started in. */
function withPython(interpreter: string, origin: Origin): Command {
  return { program: interpreter, first: ["-P", "-m", "tritonlint"], origin };
}

/** A name without a folder is looked up on `PATH`; a relative path is seen from the first folder. */
function locate(program: string, around: Surroundings): string {
  if (!/[/\\]/.test(program)) {
    return around.find(program) ?? program;
  }
  const folder = around.folders[0];
  return folder === undefined || path.isAbsolute(program) ? program : path.resolve(folder, program);
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}

export function serverArguments(command: Command, settings: Settings): string[] {
  return [...command.first, "server", ...settings.args];
}

export function versionArguments(command: Command): string[] {
  return [...command.first, "--version"];
}

/** The command line as a person would type it. */
export function show(program: string, args: readonly string[]): string {
  return [program, ...args].map((part) => (/^[\w@%+=:,./\\-]+$/.test(part) ? part : `"${part}"`)).join(" ");
}

/** Where `name` is on `PATH`. Folders that are relative do not count: they would depend on what is open. */
export function findOnPath(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  isProgram: (file: string) => boolean,
): string | undefined {
  const windows = platform === "win32";
  const rules = windows ? path.win32 : path.posix;
  const variable = windows ? Object.keys(env).find((key) => key.toUpperCase() === "PATH") : "PATH";
  const folders = (env[variable ?? "PATH"] ?? "").split(rules.delimiter).filter((folder) => rules.isAbsolute(folder));
  // A `.cmd` or `.bat` cannot be started without a shell.
  const names = windows && rules.extname(name) === "" ? [`${name}.exe`, `${name}.com`] : [name];
  for (const folder of folders) {
    for (const file of names.map((each) => rules.join(folder, each))) {
      if (isProgram(file)) {
        return file;
      }
    }
  }
  return undefined;
}
