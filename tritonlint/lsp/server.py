"""The language server: what the client says comes in here, and answers go out."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from tritonlint import __version__, catalog
from tritonlint.config import ConfigError
from tritonlint.evidence import Evidence, EvidenceError, read
from tritonlint.failure import describe
from tritonlint.files import display_path
from tritonlint.finding import Finding, Range
from tritonlint.lsp import notebooks
from tritonlint.lsp.actions import FIX_ALL, Opened, actions
from tritonlint.lsp.checker import Checker, Stopped
from tritonlint.lsp.client_settings import ClientSettings, SettingsError
from tritonlint.lsp.convert import Columns, diagnostic, path_of
from tritonlint.source import ParseFailure, Source

IDLE = 0.3
"""Seconds without a change after which a text is checked as a whole."""
PATIENCE = 5.0
"""Seconds that a question waits for the check of the text it is about."""
_WATCHED = ("**/*.py", "**/tritonlint.toml", "**/pyproject.toml", "**/tritonlint-baseline.json")
"""Files that a finding may rest on."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def _lines_of(document: TextDocument) -> tuple[str, ...]:
    """The lines with their ends as the protocol counts them: a form feed ends none."""
    return tuple(_LINE.findall(document.source))


_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage("python")]
        )
    ],
    save=True,
)


class TritonlintServer(LanguageServer):
    """Keeps the findings of every open text, and says them."""

    def __init__(self) -> None:
        super().__init__(
            "tritonlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=_NOTEBOOKS,
        )
        self.settings = ClientSettings()
        self.first_settings: Any = None
        """What the client said when it started."""
        self.findings: dict[str, tuple[str, list[Finding]]] = {}
        """By address, the text that was checked last, and what was found in it."""
        self._cells: dict[str, set[str]] = {}
        """By notebook, the cells that something was said of."""
        self._checker = Checker()
        self._thread = ThreadPoolExecutor(1, "tritonlint")
        """One, since a check is all Python: two would wait for each other."""
        self._versions: dict[str, int] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self._around: set[str] = set()
        """Texts that are checked since another one has changed: not worth a wait for who is typing."""

    # --- texts ------------------------------------------------------------------------------------

    def changed(self, uri: str, *, quick: bool = True) -> None:
        """A text is new, or another one: check it as soon as the thread is free."""
        self._around.discard(uri)
        if quick:
            for other in self._around:
                self._stop(other)
        self._start(uri, self._check(uri, quick))

    def _start(self, uri: str, check: Coroutine[Any, Any, None]) -> None:
        self._stop(uri)
        self._tasks[uri] = asyncio.get_running_loop().create_task(check)

    def _stop(self, uri: str) -> None:
        """Whatever is going on about a text is out of date."""
        self._versions[uri] = self._versions.get(uri, 0) + 1
        old = self._tasks.pop(uri, None)
        if old is not None:
            old.cancel()

    def closed(self, uri: str) -> None:
        """A text is not open any more: nothing is said of it."""
        self._stop(uri)
        self._around.discard(uri)
        self.findings.pop(uri, None)
        path = path_of(uri)
        if path is not None:
            self._thread.submit(self._checker.close, path)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def refresh(self) -> None:
        """Something was saved, which may matter to all open texts, and may have been a configuration."""
        self._thread.submit(self._checker.refresh, self.settings.finder())
        for uri in list(self.workspace.text_documents):
            self.changed(uri, quick=False)

    def everything_changed(self) -> None:
        """Settings, or files on disk, are others: check all open texts anew."""
        evidence = Evidence()
        try:
            evidence = read([Path(one) for one in self.settings.evidence])
        except (EvidenceError, OSError) as error:
            self._tell(f"evidence cannot be used: {error}")
        self._thread.submit(self._checker.forget, self.settings.finder(), evidence)
        for uri in list(self.workspace.text_documents):
            self.changed(uri, quick=False)
        for uri in list(self.workspace.notebook_documents):
            self.notebook_changed(uri)
        self._told.clear()

    def watch_files(self) -> None:
        """Ask the client to tell of files that others change, if it can."""
        workspace = self.client_capabilities.workspace
        watches = workspace.did_change_watched_files if workspace is not None else None
        if watches is None or not watches.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        self.client_register_capability(
            types.RegistrationParams(
                [
                    types.Registration(
                        "tritonlint-files",
                        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                        types.DidChangeWatchedFilesRegistrationOptions(watchers),
                    )
                ]
            )
        )

    def stop_everything(self) -> None:
        """Nobody waits for what is being checked."""
        for uri in list(self._versions):
            self._stop(uri)

    def notebook_changed(self, uri: str) -> None:
        """A notebook is new, or another one."""
        self._start(uri, self._check_notebook(uri))

    def notebook_closed(self, uri: str, cells: list[str]) -> None:
        """A notebook is not open any more."""
        self.closed(uri)
        self._silence({*cells, *self._cells.pop(uri, ())})

    def _silence(self, cells: set[str]) -> None:
        """Nothing is said any more of cells that are gone."""
        for cell in cells:
            self.findings.pop(cell, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(cell, []))

    async def _check_notebook(self, uri: str) -> None:
        version, path = self._versions[uri], path_of(uri)
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if path is None or notebook is None:
            return
        texts = {cell.document: self.workspace.get_text_document(cell.document) for cell in notebook.cells}
        file = notebooks.file_of(notebook, lambda cell: texts[cell].source)
        findings = await self._in_thread(uri, version, self._checker.check, path, file)
        if findings is None or self._versions.get(uri) != version:
            return
        by_cell = notebooks.by_cell(findings, notebook)
        self._silence(self._cells.get(uri, set()) - by_cell.keys())
        self._cells[uri] = set(by_cell)
        for cell, found in by_cell.items():
            self.findings[cell] = (texts[cell].source, found)
            columns = self.columns(texts[cell].source)
            said = [diagnostic(finding, columns) for finding in found]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(cell, said, texts[cell].version)
            )

    async def _check(self, uri: str, quick: bool) -> None:
        version = self._versions[uri]
        document = self.workspace.get_text_document(uri)
        path = path_of(uri)
        if path is None or document.language_id not in (None, "", "python"):
            return
        text, number = document.source, document.version
        if quick:
            at_once = await self._in_thread(uri, version, self._checker.quick, path, text)
            if at_once:
                self._publish(uri, version, text, number, at_once.findings)
                await asyncio.sleep(IDLE if at_once.is_sure else min(IDLE, self._checker.seconds))
        findings = await self._in_thread(uri, version, self._checker.check, path, text)
        if findings is not None:
            self._publish(uri, version, text, number, findings)
            if quick:
                self._around = set(self.workspace.text_documents) - {uri}  # what was typed may matter there
                for other in self._around:
                    self._start(other, self._check(other, quick=False))

    async def _in_thread(self, uri: str, version: int, how: Any, path: Path, text: str) -> Any:
        def poll() -> None:
            if self._versions.get(uri) != version:
                raise Stopped

        def run() -> Any:
            try:
                poll()
                return how(path, text, self._folder_of(path), poll)
            except Stopped:
                return None

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, run)
        except (ConfigError, catalog.PackError) as error:
            self._tell(str(error))
        except Exception as error:  # noqa: BLE001 - the server must outlive whatever one text does to it
            self._tell(f"{path.name} could not be checked: {describe(error)}; please report it")
        return []  # what was found before is of another text

    def _publish(
        self, uri: str, version: int, text: str, number: int | None, findings: list[Finding]
    ) -> None:
        if self._versions.get(uri) != version:
            return
        self.findings[uri] = (text, findings)
        columns = self.columns(text)
        said = [diagnostic(finding, columns) for finding in findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, said, number))

    def _tell(self, message: str) -> None:
        """Show a message, each once until settings change."""
        if message not in self._told:
            self._told.add(message)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"tritonlint: {message}")
            )

    def _folder_of(self, path: Path) -> Path:
        """The innermost workspace folder that a file lies in, else its own."""
        folders = [path_of(uri) for uri in self.workspace.folders]
        around = [folder for folder in folders if folder is not None and path.is_relative_to(folder)]
        return max(around, key=lambda folder: len(folder.parts), default=path.parent)

    # --- settings ---------------------------------------------------------------------------------

    def configure(self, said: Any) -> None:
        """Take over what the client says; what cannot be used is told and left out.

        Some clients say nothing at all in this way after each start: then what they said first holds.
        """
        try:
            self.settings = ClientSettings.read(said or self.first_settings)
        except SettingsError as error:
            self._tell(str(error))
            return
        self._told.clear()
        self.everything_changed()

    # --- questions --------------------------------------------------------------------------------

    def columns(self, text: str) -> Columns:
        """The columns of a text in the unit that was agreed on."""
        return Columns(Source("", text).lines, self.workspace.position_encoding or "utf-16")

    def opened(self, uri: str) -> Opened | None:
        """A text with what was found in it; None if it has changed since it was checked."""
        path, (checked, findings) = self._path_of(uri), self.findings.get(uri, (None, []))
        document = self.workspace.get_text_document(uri)
        text = document.source
        if path is None or checked != text:
            return None
        return Opened(uri, display_path(path), text, document.version, self.columns(text), findings)

    async def checked(self, uri: str) -> Opened | None:
        """A text with what is found in it, after a check if it needs one; None if that takes too long.

        What was found in an older text must not be mended in this one.
        """
        if self.opened(uri) is None and uri in self.workspace.text_documents:
            if uri not in self._tasks or self._tasks[uri].done():
                self.changed(uri, quick=False)
            until = asyncio.get_running_loop().time() + PATIENCE
            while self.opened(uri) is None and asyncio.get_running_loop().time() < until:
                await asyncio.sleep(0.02)
        return self.opened(uri)

    def _path_of(self, uri: str) -> Path | None:
        """The file of a text; of a cell, that of its notebook."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return path_of(notebook.uri if notebook is not None else uri)

    async def hover(self, uri: str, position: types.Position) -> str | None:
        """What is known of a place, as Markdown."""
        opened, path = self.opened(uri), self._path_of(uri)
        if opened is None or path is None:
            return None
        from tritonlint.lsp import hover

        place = opened.columns.place(position)
        rules = catalog.load(catalog.DEFAULT_PACKS).documented

        def of_values() -> str | None:
            if path != path_of(uri):
                return None  # a cell is no module of its own
            try:
                module: Any = self._checker.module_of(path, opened.text, self._folder_of(path))
                return hover.of_values(module, place)
            except (ParseFailure, RecursionError):
                return None

        value = await asyncio.get_running_loop().run_in_executor(self._thread, of_values)
        texts = [value, hover.of_rules(opened.findings, place, rules)]
        return "\n\n---\n\n".join(text for text in texts if text) or None

    def text_at(self, path: str) -> Columns:
        """The columns of a file that a fix changes beside the one that is open."""
        file = Path(path).absolute()
        for uri, document in self.workspace.text_documents.items():
            if path_of(uri) == file:
                return self.columns(document.source)
        with contextlib.suppress(OSError, ParseFailure):
            return self.columns(Source.read(file, path).text)
        return self.columns("")


def create() -> TritonlintServer:
    """A server that answers to everything it knows."""
    TextDocument.lines = property(_lines_of)  # type: ignore[assignment, method-assign]
    server = TritonlintServer()

    @server.feature(types.INITIALIZED)
    def initialized(ls: TritonlintServer, params: types.InitializedParams) -> None:
        ls.configure(ls.first_settings)
        ls.watch_files()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: TritonlintServer, params: None) -> None:
        ls.stop_everything()

    @server.feature(types.INITIALIZE)
    def initialize(ls: TritonlintServer, params: types.InitializeParams) -> None:
        ls.first_settings = params.initialization_options

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: TritonlintServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.changed(params.text_document.uri, quick=False)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: TritonlintServer, params: types.DidChangeTextDocumentParams) -> None:
        if ls.settings.runs_on_type:
            ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: TritonlintServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: TritonlintServer, params: types.DidCloseTextDocumentParams) -> None:
        ls.closed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(ls: TritonlintServer, params: types.DidChangeConfigurationParams) -> None:
        ls.configure(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(ls: TritonlintServer, params: types.DidChangeWatchedFilesParams) -> None:
        if any(change.uri not in ls.workspace.text_documents for change in params.changes):
            ls.everything_changed()  # of a text that is open, the editor says itself what is in it

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(ls: TritonlintServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
        ls.everything_changed()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(ls: TritonlintServer, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(ls: TritonlintServer, params: types.DidChangeNotebookDocumentParams) -> None:
        if ls.settings.runs_on_type:
            ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(ls: TritonlintServer, params: types.DidSaveNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(ls: TritonlintServer, params: types.DidCloseNotebookDocumentParams) -> None:
        ls.notebook_closed(params.notebook_document.uri, [one.uri for one in params.cell_text_documents])

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def code_actions(ls: TritonlintServer, params: types.CodeActionParams) -> list[types.CodeAction]:
        text = await ls.checked(params.text_document.uri)
        if text is None:
            return []
        where = Range(text.columns.place(params.range.start), text.columns.place(params.range.end))
        return list(actions(text, where, params.context.only, ls.text_at))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: TritonlintServer, params: types.HoverParams) -> types.Hover | None:
        text = await ls.hover(params.text_document.uri, params.position)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    return server


def serve() -> None:
    """Answer on standard input and output until the client says good-bye."""
    create().start_io()
