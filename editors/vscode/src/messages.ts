// What the user is told when the server does not run. Each message is one sentence or two: what is so, what to do.

import type { Command } from "./command";

export const INSTALL = "pip install 'tritonlint[lsp]'";
export const CHOOSE_INTERPRETER = "Choose the Interpreter";
export const SHOW_LOG = "Show the Log";

export interface Attempt {
  command: Command;
  reason: string;
}

export function notInstalled(attempts: readonly Attempt[]): string {
  const [first] = attempts;
  if (first === undefined) {
    return `tritonlint is not installed: it is not on PATH. Run ${INSTALL}, or choose an interpreter that has it.`;
  }
  const from = first.command.origin;
  if (from === "tritonlint.path" || from === "tritonlint.interpreter") {
    return `tritonlint does not run as the setting ${from} says (${first.reason}). Correct it, or run ${INSTALL} there.`;
  }
  return `tritonlint does not run with ${first.command.program} (${first.reason}). Run ${INSTALL} there, or choose another interpreter.`;
}

export function notAllowed(): string {
  return "tritonlint does not start programs of a workspace that is not trusted. Trust it, or install tritonlint on PATH.";
}

export function notStarted(command: Command, reason: string): string {
  const advice = reason.includes(INSTALL) ? "" : ` If it is not installed there, run ${INSTALL}.`;
  return `The server of tritonlint did not start with ${command.program}: ${reason}.${advice}`;
}

export function crashed(times: number, reason: string): string {
  const why = reason === "" ? "" : `, the last time with: ${reason}`;
  return `The server of tritonlint ended ${times} times in three minutes${why}. It is not started again until you restart it.`;
}

/** The line of an error output that says what is wrong: the last one, without what a logger puts before it. */
export function lastLine(output: string, fallback: string): string {
  const lines = output.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
  const line = lines.at(-1) ?? fallback;
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
