// "Open the documentation of the rule under the cursor" and "fix all in this file".

import * as vscode from "vscode";

export async function openRule(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const here = editor === undefined ? [] : findingsAt(editor.document.uri, editor.selection.active);
  const linked = here.map(({ code }) => code).find((code) => typeof code === "object");
  const code = here[0]?.code;
  if (typeof linked === "object") {
    await vscode.commands.executeCommand("vscode.open", linked.target);
  } else if (code !== undefined) {
    void vscode.window.showInformationMessage(
      `${String(code)} comes without a link. \`tritonlint rule ${String(code)}\` explains it.`,
    );
  } else {
    void vscode.window.showInformationMessage("There is no finding of tritonlint under the cursor.");
  }
}

/** The findings that hold this position; the smallest first, as it is the one that is meant. */
function findingsAt(uri: vscode.Uri, position: vscode.Position): vscode.Diagnostic[] {
  const size = ({ range }: vscode.Diagnostic) => (range.end.line - range.start.line) * 1000 + range.end.character;
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source, range }) => source === "tritonlint" && range.contains(position))
    .sort((one, other) => size(one) - size(other));
}

export async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", {
    kind: "source.fixAll.tritonlint",
    apply: "first",
  });
}
