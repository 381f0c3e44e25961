"""From a keystroke to diagnostics, over the streams of a server: `python benchmarks/editor.py FILE...`.

Each file is opened, and code is typed behind statements at random, inside kernels, then anywhere. Prints
the median and the 90th percentile in milliseconds for both, and the time from opening a file to its first
diagnostics. `--pause` is what lies between an answer and the next keystroke, less than the server waits
before it checks the whole file.
"""

from __future__ import annotations

import ast
import asyncio
import random
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import click
from lsprotocol import types
from pygls.lsp.client import LanguageClient


class Typist:
    """A client that types into one file.

    Args:
        file: what is opened.
    """

    def __init__(self, file: Path) -> None:
        self.file, self.uri = file, file.as_uri()
        self.client = LanguageClient("editor", "1")
        self.version = 0
        self.heard: dict[int | None, float] = {}
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def hear(params: types.PublishDiagnosticsParams) -> None:
            if params.uri == self.uri:
                self.heard.setdefault(params.version, perf_counter())
                self._news.set()

    async def start(self) -> float:
        """Open the file; seconds to its first diagnostics."""
        await self.client.start_io(sys.executable, "-m", "tritonlint", "server")
        folder = types.WorkspaceFolder(self.file.parent.as_uri(), self.file.parent.name)
        parameters = types.InitializeParams(
            capabilities=types.ClientCapabilities(), workspace_folders=[folder]
        )
        await self.client.initialize_async(parameters)
        self.client.initialized(types.InitializedParams())
        start = perf_counter()
        item = types.TextDocumentItem(self.uri, "python", self.version, self.file.read_text("utf-8"))
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self._answered() - start

    async def type(self, line: int, column: int, text: str) -> float:
        """Type something; seconds to the diagnostics of that version."""
        self.version += 1
        place = types.Position(line, column)
        change = types.TextDocumentContentChangePartial(range=types.Range(place, place), text=text)
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        start = perf_counter()
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return await self._answered() - start

    async def _answered(self) -> float:
        while self.version not in self.heard:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)
        return self.heard[self.version]

    async def stop(self) -> None:
        """End the server."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def statements(text: str) -> tuple[list[int], list[int]]:
    """Lines, from 0, on which a simple statement ends: those inside kernels, and all."""
    kernels, everything = [], []
    tree = ast.parse(text)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        is_kernel = any("jit" in ast.unparse(one) for one in function.decorator_list)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and node.end_lineno is not None:
                everything.append(node.end_lineno - 1)
                if is_kernel:
                    kernels.append(node.end_lineno - 1)
    return kernels, everything


async def measured(file: Path, keys: int, pause: float) -> str:
    """One line on one file."""
    text = file.read_text("utf-8")
    lines, dice = text.split("\n"), random.Random(file.name)
    typist = Typist(file)
    opened = await typist.start()
    said = [f"{file.name}, {len(lines):,} lines: opened {1e3 * opened:.0f} ms"]
    for name, places in zip(("in kernels", "anywhere"), statements(text), strict=True):
        plain = [line for line in places if "#" not in lines[line]]
        times = []
        for number in range(keys if plain else 0):
            line = dice.choice(plain)
            column = len(lines[line])
            typed = f"; key_{number} = {number}"
            await asyncio.sleep(pause)
            times.append(1e3 * await typist.type(line, column, typed))
            lines[line] += typed
        if times:
            ninth = quantiles(times, n=10)[-1] if len(times) > 1 else times[0]
            said.append(f"{name} {median(times):.0f} ms (90 % within {ninth:.0f})")
    await typist.stop()
    return "; ".join(said)


@click.command(help=__doc__)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--keys", default=30, show_default=True, help="Keystrokes of each kind.")
@click.option("--pause", default=0.1, show_default=True, help="Seconds.")
def main(files: tuple[Path, ...], keys: int, pause: float) -> None:
    """Measure each file with a server of its own."""
    for file in files:
        print(asyncio.run(measured(file.resolve(), keys, pause)), flush=True)


if __name__ == "__main__":
    main()
