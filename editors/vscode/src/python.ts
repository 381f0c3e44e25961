// The interpreter chosen in the Python extension, if that extension is there.

import * as vscode from "vscode";

const PYTHON_EXTENSION = "ms-python.python";

/** The part of the interface of the Python extension that is used here. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri: vscode.Uri | undefined } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function api(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi | undefined>(PYTHON_EXTENSION);
  const given = extension?.isActive ? extension.exports : await extension?.activate();
  return given?.environments === undefined ? undefined : given;
}

export async function activeInterpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await api())?.environments;
  if (environments === undefined) {
    return undefined;
  }
  const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  return environment?.executable.uri?.fsPath;
}

export async function onInterpreterChange(listener: () => void): Promise<vscode.Disposable | undefined> {
  return (await api())?.environments.onDidChangeActiveEnvironmentPath(listener);
}

/** Let the user choose: in the Python extension, if no setting overrides what is chosen there. */
export async function chooseInterpreter(overriding: string | undefined): Promise<void> {
  if (overriding === undefined && vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined) {
    await vscode.commands.executeCommand("python.setInterpreter");
  } else {
    await vscode.commands.executeCommand("workbench.action.openSettings", overriding ?? "tritonlint.interpreter");
  }
}
