// Asks a command for its version: whether it is there, before a server is started with it.

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { type Command, versionArguments } from "./command";
import { lastLine } from "./messages";

export type Answer = { version: string } | { reason: string };

const PATIENCE = 20_000;

export function probe(command: Command, cwd: string): Promise<Answer> {
  return new Promise((resolve) => {
    const options = { cwd, timeout: PATIENCE, windowsHide: true };
    execFile(command.program, versionArguments(command), options, (error, stdout, stderr) => {
      const version = /\d+\.\d+\S*/.exec(stdout)?.[0];
      if (error === null && version !== undefined) {
        resolve({ version });
      } else if (error?.code === "ENOENT") {
        resolve({ reason: `${command.program} does not exist` });
      } else if (error?.killed) {
        resolve({ reason: `no answer in ${PATIENCE / 1000} seconds` });
      } else {
        resolve({ reason: lastLine(stderr, error?.message ?? "it does not tell its version") });
      }
    });
  });
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
