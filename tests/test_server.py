"""The language server, spoken to by a real client over its standard input and output."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import UNMASKED as BAD

types = pytest.importorskip(
    "lsprotocol.types", reason="pygls is not installed: pip install 'tritonlint[lsp]'"
)

from pygls.lsp.client import LanguageClient  # noqa: E402 - only where it is installed

from tritonlint import edits  # noqa: E402
from tritonlint.lsp.checker import Checker  # noqa: E402
from tritonlint.lsp.convert import Columns  # noqa: E402

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOAD = 7
"""The line of the load, from 0."""


class Client(LanguageClient):
    """Keeps what the server says of each text, and waits for it."""

    def __init__(self):
        super().__init__("test", "1")
        self.said, self.messages, self._news = {}, [], asyncio.Event()
        self.registered = []

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def hear(params):
            self.said[params.uri] = params
            self._news.set()

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.registered += params.registrations
            self._news.set()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def listen(params):
            self.messages.append(params.message)
            self._news.set()

    async def until(self, holds):
        async with asyncio.timeout(60):
            while not holds():
                self._news.clear()
                await self._news.wait()

    def open(self, file, text=None):
        data = file.read_bytes().decode() if text is None else text
        item = types.TextDocumentItem(file.as_uri(), "python", 1, data)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, file, version, *changes):
        """Each change is a text, or start, end and text of a part."""
        made = [
            types.TextDocumentContentChangeWholeDocument(change[0])
            if len(change) == 1
            else types.TextDocumentContentChangePartial(
                range=types.Range(types.Position(*change[0]), types.Position(*change[1])), text=change[2]
            )
            for change in changes
        ]
        document = types.VersionedTextDocumentIdentifier(version=version, uri=file.as_uri())
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, made))

    async def diagnostics(self, file, version=1):
        uri = file.as_uri()
        await self.until(lambda: uri in self.said and self.said[uri].version == version)
        return list(self.said[uri].diagnostics)

    async def actions(self, file, line, only=None):
        place = types.Position(line, 8)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(file.as_uri()),
            types.Range(place, place),
            types.CodeActionContext(diagnostics=[], only=only),
        )
        return list(await self.text_document_code_action_async(params))


def conversation(talk, *folders, encodings=None, settings=None):
    """Start a server, talk to it, and see that it ends by itself."""

    async def whole():
        client = Client()
        await client.start_io(sys.executable, "-m", "tritonlint", "server")
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watching)
        params = types.InitializeParams(
            capabilities=types.ClientCapabilities(workspace, general=general),
            workspace_folders=[types.WorkspaceFolder(one.as_uri(), one.name) for one in folders],
            initialization_options=settings,
        )
        await client.initialize_async(params)
        client.initialized(types.InitializedParams())
        try:
            await talk(client)
            await client.shutdown_async(None)
            client.exit(None)
            async with asyncio.timeout(20):
                assert await client._server.wait() == 0
        finally:
            if client._server.returncode is None:
                client._server.kill()  # or it would be waited for
            await client.stop()

    asyncio.run(whole())


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "kernels.py").write_text(BAD)
    return tmp_path


def codes(diagnostics):
    return [(one.code, one.range.start.line) for one in diagnostics]


def test_open_change_and_close(project):
    file = project / "kernels.py"

    async def talk(client):
        client.open(file)
        (one,) = await client.diagnostics(file)
        assert (one.code, one.source, one.severity) == ("TL101", "tritonlint", types.DiagnosticSeverity.Error)
        assert (one.range.start.line, one.range.start.character) == (LOAD, 8)
        assert one.related_information[0].location.uri == file.as_uri()
        end = (LOAD, len("    x = tl.load(x_ptr + at"))
        client.change(file, 2, (end, end, ", mask=at < n"))
        assert await client.diagnostics(file, 2) == []
        client.change(file, 3, ((LOAD, 0), (LOAD, 0), "    x = = 1\n"))
        assert codes(await client.diagnostics(file, 3)) == [("TL901", LOAD)]
        client.change(file, 4, (BAD,))
        assert codes(await client.diagnostics(file, 4)) == [("TL101", LOAD)]
        document = types.TextDocumentIdentifier(file.as_uri())
        client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        await client.until(lambda: not client.said[file.as_uri()].diagnostics)

    conversation(talk, project)


def test_what_is_typed_in_one_file_counts_for_another(project):
    launches = project / "launches.py"
    launches.write_text("from kernels import copied\n")
    kernels = project / "kernels.py"
    kernels.write_text(BAD.replace("tl.load(x_ptr + at)", "tl.load(x_ptr + at, mask=at < n)"))

    async def talk(client):
        client.open(kernels)
        client.open(launches)
        assert await client.diagnostics(kernels) == await client.diagnostics(launches) == []
        client.change(launches, 2, ((2, 0), (2, 0), "def run(x, y):\n    copied[(1,)](x, y, 7, 96)\n"))
        await client.until(lambda: any(codes(one.diagnostics) for one in client.said.values()))
        assert {one.code for said in client.said.values() for one in said.diagnostics} == {"TL201"}

    conversation(talk, project)


def test_columns_are_counted_as_the_client_counts(project):
    """A pile of poo is one character, two units of UTF-16, four of UTF-8; tabs and form feeds are one."""
    file = project / "wide.py"
    line = '    x = tl.load(x_ptr + at) + len("💩é") * tl.load(out_ptr + at)'
    file.write_text(BAD.replace("    x = tl.load(x_ptr + at)", line) + "\x0c\n", "utf-8")
    for encoding, wide in (("utf-16", 1), ("utf-8", 4), ("utf-32", 0)):

        async def talk(client, wide=wide):
            client.open(file)
            second = (await client.diagnostics(file))[1]
            assert second.range.start.character == line.rindex("tl.load") + wide
            last = len(BAD.splitlines())
            client.change(file, 2, ((last, 1), (last, 1), "x = 1"))
            assert len(await client.diagnostics(file, 2)) == 2

        conversation(talk, project, encodings=[encoding])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixes_and_comments(project, newline):
    file = project / "kernels.py"
    text = BAD.replace("\n", newline)
    file.write_bytes(text.encode())

    def after(action):
        (change,) = action.edit.document_changes
        assert (change.text_document.uri, change.text_document.version) == (file.as_uri(), 1)
        columns = Columns(BAD.split("\n"), "utf-16")
        made = [
            edits.Edit(
                "", edits.Range(columns.place(one.range.start), columns.place(one.range.end)), one.new_text
            )
            for one in change.edits
        ]
        return edits.apply(text, made)

    async def talk(client):
        client.open(file)
        await client.diagnostics(file)
        fix, ignore, everything = await client.actions(file, LOAD)
        assert (fix.kind, fix.is_preferred) == ("quickfix", True)
        fixed = text.replace("x_ptr + at)", "x_ptr + at, mask=at < n)")
        assert after(fix) == after(everything) == fixed
        assert everything.kind == "source.fixAll.tritonlint"
        said = "x_ptr + at)  # tritonlint: ignore[TL101] say why"
        assert after(ignore) == text.replace("x_ptr + at)", said)
        assert [one.kind for one in await client.actions(file, LOAD, ["source.fixAll"])] == [everything.kind]
        assert await client.actions(file, 0, ["quickfix"]) == []
        client.change(file, 2, (fixed,))
        assert await client.diagnostics(file, 2) == []
        client.change(file, 3, (after(ignore),))
        assert await client.diagnostics(file, 3) == []

    conversation(talk, project)


@pytest.mark.parametrize("run", ["onType", "onSave"])
def test_fixes_are_for_the_text_that_is_there(project, run):
    """Lines go in, and at once a fix is asked for: it is made where the load is now."""
    file = project / "kernels.py"

    async def talk(client):
        client.open(file)
        await client.diagnostics(file)
        client.change(file, 2, ((0, 0), (0, 0), "import os\n@os.f\ndef g(): pass\n"))
        (action,) = await client.actions(file, LOAD + 3, ["source.fixAll"])
        (change,) = action.edit.document_changes
        assert (change.text_document.version, change.edits[0].range.start.line) == (2, LOAD + 3)

    conversation(talk, project, settings={"run": run})


def test_many_actions_at_once(project):
    """Each statement gets one comment, and the text is read once for all of them."""
    file = project / "many.py"
    head, kernel = BAD.split("\n\n\n")
    count = 60
    file.write_text(head + "".join(f"\n\n\n{kernel.replace('copied', f'copied{i}')}" for i in range(count)))

    async def talk(client):
        client.open(file)
        await client.diagnostics(file)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(file.as_uri()),
            types.Range(types.Position(0, 0), types.Position(10**6, 0)),
            types.CodeActionContext(diagnostics=[]),
        )
        found = await client.text_document_code_action_async(params)
        assert len([one for one in found if one.title.startswith("ignore")]) == count
        assert len(found) == 2 * count + 1

    conversation(talk, project)


def test_hover(project):
    file = project / "kernels.py"

    async def talk(client):
        client.open(file)
        await client.diagnostics(file)

        async def at(line, character):
            document = types.TextDocumentIdentifier(file.as_uri())
            found = await client.text_document_hover_async(
                types.HoverParams(document, types.Position(line, character))
            )
            return found.contents.value if found else ""

        load = await at(LOAD, 12)
        assert "unmasked-access (TL101)" in load
        assert "Why is this bad?" in load
        assert "load through `x_ptr`" in load
        assert "is open: nothing keeps it inside" in load
        assert "is kept inside below `n`" in await at(LOAD + 1, 6)
        assert "tile [BLOCK] = `BLOCK * program_id(0) + arange(0, BLOCK)`" in await at(6, 5)
        assert await at(0, 0) == ""

    conversation(talk, project)


def test_settings_of_folders_and_of_the_client(tmp_path):
    for name, settings in (("one", 'ignore = ["TL101"]\n'), ("two", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tritonlint.toml").write_text(settings)
        (tmp_path / name / "kernels.py").write_text(BAD)
    one, two = tmp_path / "one", tmp_path / "two"

    async def talk(client):
        for folder in (one, two):
            client.open(folder / "kernels.py")
        assert await client.diagnostics(one / "kernels.py") == []
        assert codes(await client.diagnostics(two / "kernels.py")) == [("TL101", LOAD)]
        client.said.clear()
        said = types.DidChangeConfigurationParams({"tritonlint": {"select": ["TL5"]}})
        client.workspace_did_change_configuration(said)
        assert await client.diagnostics(two / "kernels.py") == []
        client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"tritonlint": {"select": ["TL9999"]}})
        )
        await client.until(lambda: client.messages)
        assert "there is no rule `TL9999`" in client.messages[0]
        (two / "tritonlint.toml").write_text("select = 3\n")
        client.said.clear()
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"tritonlint": {}}))
        await client.until(lambda: len(client.messages) > 1)
        assert "select" in client.messages[1]

    conversation(talk, one, two)


def test_evidence_is_shown(project, tmp_path):
    """A wrong file is told of, and the rest goes on."""
    (project / "e.json").write_text("{}")
    file = project / "kernels.py"

    async def talk(client):
        client.open(file)
        assert codes(await client.diagnostics(file)) == [("TL101", LOAD)]
        await client.until(lambda: client.messages)
        assert "evidence cannot be used" in client.messages[0]

    conversation(talk, project, settings={"evidence": [str(project / "e.json")]})


def test_cells_of_a_notebook(project):
    """A kernel in one cell, its imports in another; a fix changes the cell, and magics are no errors."""
    notebook = project / "n.ipynb"
    cells = ["%matplotlib inline\nimport triton\nimport triton.language as tl", BAD.split("\n", 3)[3]]
    addresses = [f"vscode-notebook-cell:{notebook}#{number}" for number in range(len(cells))]
    line = LOAD - 3

    async def talk(client):
        kinds = [types.NotebookCell(types.NotebookCellKind.Code, one) for one in addresses]
        opened = types.NotebookDocument(notebook.as_uri(), "jupyter-notebook", 1, kinds)
        texts = [
            types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(addresses, cells, strict=True)
        ]
        client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(opened, texts))
        await client.until(lambda: set(client.said) == set(addresses))
        assert [codes(client.said[uri].diagnostics) for uri in addresses] == [[], [("TL101", line)]]
        place = types.Position(line, 8)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(addresses[1]), types.Range(place, place), types.CodeActionContext([])
        )
        fix, *_ = await client.text_document_code_action_async(params)
        (change,) = fix.edit.document_changes
        (edit,) = change.edits
        assert (change.text_document.uri, edit.range.start.line, edit.new_text) == (
            addresses[1],
            line,
            ", mask=at < n",
        )
        client.said.clear()
        cell = types.VersionedTextDocumentIdentifier(version=2, uri=addresses[1])
        fixed = types.TextDocumentContentChangeWholeDocument(
            cells[1].replace("x_ptr + at)", "x_ptr + at, mask=at < n)")
        )
        changes = types.NotebookDocumentCellChanges(
            text_content=[types.NotebookDocumentCellContentChanges(cell, [fixed])]
        )
        client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(version=2, uri=notebook.as_uri()),
                types.NotebookDocumentChangeEvent(cells=changes),
            )
        )
        await client.until(lambda: addresses[1] in client.said)
        assert codes(client.said[addresses[1]].diagnostics) == []

    conversation(talk, project)


def test_what_is_in_the_baseline_is_not_shown_and_files_are_watched(project):
    file, settings = project / "kernels.py", project / "tritonlint.toml"
    command = [sys.executable, "-m", "tritonlint", "check", "--write-baseline"]
    subprocess.run(command, cwd=project, check=True, capture_output=True)

    async def talk(client):
        await client.until(lambda: client.registered)
        (watched,) = client.registered
        patterns = [one["globPattern"] for one in watched.register_options["watchers"]]
        assert "**/tritonlint-baseline.json" in patterns
        client.open(file)
        assert codes(await client.diagnostics(file)) == [("TL101", LOAD)]
        settings.write_text('baseline = "tritonlint-baseline.json"\n')
        change = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        client.said.clear()
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert codes(await client.diagnostics(file)) == []
        client.change(file, 2, [(LOAD, 0), (LOAD, 0), "    y = tl.load(x_ptr + at)\n"])
        assert codes(await client.diagnostics(file, 2)) == [("TL101", LOAD + 1)]  # a second one is news

    conversation(talk, project)


# --- the quick check -----------------------------------------------------------------------------------

WHOLE = sorted((FIXTURES / "rules").glob("*/*.py"))


def places(findings):
    return sorted((one.code, one.range.start.line, one.range.start.column) for one in findings)


@pytest.mark.parametrize("file", random.Random(1).sample(WHOLE, 40), ids=lambda file: file.stem)
def test_after_an_edit_the_quick_check_says_what_the_whole_one_says(file):
    """Lines are added, taken away and changed at random places."""
    dice = random.Random(file.stem)
    text = file.read_text("utf-8")
    checker = Checker()
    checker.check(file, text, file.parent, lambda: None)
    for _ in range(4):
        lines = text.split("\n")
        at = dice.randrange(len(lines))
        kind = dice.choice(["comment", "blank", "gone", "digit"])
        if kind == "comment":
            lines[at] += "  # words"
        elif kind == "blank":
            lines.insert(at, "")
        elif kind == "gone":
            del lines[at]
        else:
            lines[at] = lines[at].replace("0", "1", 1)
        text = "\n".join(lines)
        quick = checker.quick(file, text, file.parent, lambda: None)
        whole = checker.check(file, text, file.parent, lambda: None)
        if quick is not None and quick.is_sure:
            assert places(quick.findings) == places(whole), (kind, at)
