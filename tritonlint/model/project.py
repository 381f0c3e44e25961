"""The files that belong together: imports followed by path, launches and callers found by name.

Nothing is ever imported or run. A file is read when its name comes up, and parsed when it may matter.
"""

from __future__ import annotations

import os
import re
from bisect import insort
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.model.module import FunctionInfo, Module
from tritonlint.roots import package_top, python_files
from tritonlint.source import ParseFailure, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tritonlint.model.records import Trace

_OUTSIDE = frozenset(
    "triton torch numpy math functools itertools os typing dataclasses jax pytest collections".split()
)
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


class Project:
    """The files under one root, and what has been learned of them."""

    def __init__(self, root: Path, texts: Mapping[Path, bytes] | None = None) -> None:
        self.root = root.absolute()
        self._changed = dict(texts or {})
        """What files hold instead of what is on disk: a fix that is being tried, a buffer of an editor."""
        self._sources: dict[Path, Source | None] = {}
        self._modules: dict[Path, Module | None] = {}
        self._traces: dict[FunctionInfo, Trace] = {}
        self._foreign: dict[tuple[object, ...], list[Path]] = {}
        self._found: dict[tuple[str, Path], Path | None] = {}
        self._reaches: dict[Path, Reach] = {}
        self._homes: dict[Path, list[Path]] = {}
        self._imports: dict[tuple[Path, str, int], Path | None] = {}
        """The file that each import of a folder's files leads to."""
        self._memory: dict[str, dict[Any, Any]] = {}
        self.poll: Callable[[], None] | None = None
        """Is called before anything that takes long; see `Context.poll`."""

    def renewed(self, texts: Mapping[Path, bytes] | None = None) -> Project:
        """The same files, with all that was concluded from them forgotten, and other texts for some.

        What was concluded from a text may have spread to any file. What has been read and parsed is shared.
        """
        other = Project(self.root, {**self._changed, **(texts or {})})
        fresh = {path for path, data in other._changed.items() if self._changed.get(path) != data}
        if any(self._is_new(path) for path in fresh):
            return other  # imports that led nowhere may lead there
        other._sources = {path: source for path, source in self._sources.items() if path not in fresh}
        other._reaches = {path: reach for path, reach in self._reaches.items() if path not in fresh}
        other._found, other._homes = self._found, self._homes
        if "files" in self.__dict__:
            other.__dict__["files"] = self.files
        if "_texts" in self.__dict__:
            # A notebook is part of no other file's project: it comes only as the file that is checked.
            known = {path: other._changed[path] for path in fresh & self._texts.keys()}
            other.__dict__["_texts"] = self._texts | known
            if "_words" in self.__dict__:
                other.__dict__["_words"] = self._words.renewed(known)
        return other

    def _is_new(self, path: Path) -> bool:
        """Whether a Python file may not have been there when others were looked for."""
        if path.suffix != ".py" or not path.is_relative_to(self.root):
            return False
        known = (self._changed, self._sources, self._modules, self.__dict__.get("files", ()))
        return not any(path in one for one in known)

    def read(self) -> None:
        """Read every file and index its words, so that processes forked from this one need not."""
        _ = self._words

    def remembered(self, what: str) -> dict[Any, Any]:
        """What an analysis has concluded so far, under its own name; it is forgotten with the project."""
        return self._memory.setdefault(what, {})

    def module(self, source: Source, file: Path | None = None) -> Module:
        """The module of a text, which stands for `file` from now on.

        Raises:
            ParseFailure: the text does not parse.
        """
        source.tree  # noqa: B018 - parses, or raises
        if file is None:
            return Module(source, self, None, Path(source.path).stem)
        path = file.absolute()
        known = self._modules.get(path)
        if known is not None and known.source.text == source.text:
            known.source.path = source.path
            return known
        module = Module(source, self, path, self._dotted(path))
        self._modules[path] = module
        return module

    def known(self, path: Path) -> Module | None:
        """The module of a file as far as one has been made."""
        return self._modules.get(path)

    def load(self, path: Path) -> Module | None:
        """The module in a file of the project, None if it cannot be read or parsed."""
        if path not in self._modules:
            if self.poll is not None:
                self.poll()
            self._modules[path] = self._read(path)
        return self._modules[path]

    def _read(self, path: Path) -> Module | None:
        if path not in self._sources:
            self._sources[path] = _source(path, self._changed.get(path))
        source = self._sources[path]
        return Module(source, self, path, self._dotted(path)) if source is not None else None

    def _dotted(self, path: Path) -> str:
        try:
            parts = list(path.relative_to(self.root).with_suffix("").parts)
        except ValueError:
            parts = [path.stem]
        if parts and parts[-1] == "__init__":
            parts.pop()
        return ".".join(parts)

    # --- edits ----------------------------------------------------------------------------------
    def take_text(self, path: Path, data: bytes) -> None:
        """From now on a file holds another text, of which its module knows; see `editing`."""
        self._changed[path] = data
        self._sources.pop(path, None)
        self._reaches.pop(path, None)
        if path in self.__dict__.get("_texts", ()):
            self._texts[path] = data
            if "_words" in self.__dict__:
                self.__dict__["_words"] = self._words.renewed({path: data})

    def traces_of(self, info: FunctionInfo) -> list[Trace]:
        """The evaluations so far in which the body of a jit function took part."""
        return [trace for trace in self._traces.values() if info in trace.functions]

    def forget_body(self, info: FunctionInfo) -> None:
        """Forget what was concluded from the body of a jit function."""
        for trace in self.traces_of(info):
            del self._traces[trace.root]
        for what in ("called names", "mentioned"):
            self.remembered(what).pop(info, None)
        for what in ("gemms", "tiles"):
            self._memory.pop(what, None)

    # --- imports --------------------------------------------------------------------------------
    def find_module(self, dotted: str, level: int, importer: Module) -> Module | None:
        """The project's module that an import in `importer` names."""
        if importer.file is None or (level == 0 and dotted.split(".")[0] in _OUTSIDE):
            return None
        key = (importer.file.parent, dotted, level)
        if key not in self._imports:
            found = self._searched(dotted, level, importer.file)
            self._imports[key] = found.file if found is not None else None
        path = self._imports[key]
        return self.load(path) if path is not None else None

    def _searched(self, dotted: str, level: int, importer: Path) -> Module | None:
        if level:
            parents = importer.parents
            return self._module_under(parents[level - 1], dotted) if level <= len(parents) else None
        home = importer.parent
        if home not in self._homes:
            self._homes[home] = self._import_folders(importer)
        for folder in self._homes[home]:
            module = self._module_under(folder, dotted)
            if module is not None:
                return module
        return None

    def _import_folders(self, file: Path) -> list[Path]:
        top = package_top(file)
        first = top.parent if top is not None else file.parent
        folders = [first, self.root.parent if os.path.exists(self.root / "__init__.py") else self.root]
        return [*folders, self.root / "src", self.root / "python"]

    def _module_under(self, folder: Path, dotted: str) -> Module | None:
        key = (dotted, folder)
        if key not in self._found:
            self._found[key] = _file_of(folder.joinpath(*dotted.split(".")) if dotted else folder, self.root)
        path = self._found[key]
        return self.load(path) if path is not None else None

    # --- search ---------------------------------------------------------------------------------
    @cached_property
    def files(self) -> tuple[Path, ...]:
        """Every Python file under the root, in order."""
        return tuple(map(Path, python_files(self.root)))

    @cached_property
    def _texts(self) -> dict[Path, bytes]:
        """The text of every file that can be read."""
        found: dict[Path, bytes] = {}
        for path in self.files:
            try:
                found[path] = self._changed[path] if path in self._changed else path.read_bytes()
            except OSError:
                continue
        return found

    @cached_property
    def _words(self) -> Words:
        return Words.of(self._texts)

    def files_mentioning(self, name: str, *, anywhere: bool = False) -> list[Path]:
        """Files of the project in which the word `name` occurs: those that may launch, or `anywhere`."""
        return self._words.mentioning(name.encode(), anywhere=anywhere)

    def imports(self, path: Path, word: str) -> bool:
        """Whether `word` stands in an import of a file, as its text has it."""
        data, name = self._texts.get(path, b""), word.encode("utf-8", "surrogatepass")
        line = re.compile(rb"^[ \t]*(?:from|import)\b[^\n]*" + _whole(name), re.MULTILINE)
        return line.search(data) is not None or name in self._reach(path).imported

    def spells(self, path: Path, dotted: str) -> bool:
        """Whether a string in a file names a module, or what is in it: `"package.module.Class"`."""
        name = _whole(dotted.encode("utf-8", "surrogatepass"))
        return re.search(rb"[\"'][\w.]*" + name + rb"[\w.:]*[\"']", self._texts.get(path, b"")) is not None

    def modules_mentioning(
        self,
        name: str,
        besides: Module,
        *,
        anywhere: bool = False,
        called: bool = False,
        home: Path | None = None,
    ) -> list[Module]:
        """Modules other than `besides` in which `name` occurs and may mean what another file defines.

        With `called`, those alone that call something by that name. With `home`, the file that defines it on
        its top level, `x.name` counts only where that file or a folder around it is mentioned.
        """
        places = _words_for(home) if home is not None else ()
        key = (name, anywhere, called, places)
        if key not in self._foreign:
            mentioning = self.files_mentioning(name, anywhere=anywhere)
            self._foreign[key] = [
                path for path in mentioning if self._reach(path).has(name, places, called=called)
            ]
        found = []
        for path in self._foreign[key]:
            if path != besides.file:
                module = self.load(path)
                if module is not None:
                    found.append(module)
        return found

    def _reach(self, path: Path) -> Reach:
        if path not in self._reaches:
            self._reaches[path] = Reach.of(self._texts[path])
        return self._reaches[path]

    # --- evaluation -----------------------------------------------------------------------------
    def trace(self, info: FunctionInfo) -> Trace:
        """What a jit function does when it is the root of the evaluation.

        Of one that is nested too deep to be evaluated, nothing is known.
        """
        from tritonlint.model.kernel import trace_of
        from tritonlint.model.records import Trace

        if info not in self._traces:
            if self.poll is not None:
                self.poll()
            try:
                self._traces[info] = trace_of(info)
            except RecursionError:
                self._traces[info] = Trace(info)
                self._traces[info].complete = False
        return self._traces[info]


@dataclass(frozen=True, slots=True)
class Words:
    """Which files a word occurs in."""

    index: Mapping[bytes, Sequence[Path]]
    """Files that may hold a kernel or a launch, or hand it on, by their words."""
    others: Sequence[tuple[Path, bytes]]
    """The text of all others."""
    changed: Mapping[Path, bytes]
    """Texts that have come since: to index all files again would take as long as to read them."""

    @classmethod
    def of(cls, texts: Mapping[Path, bytes]) -> Words:
        """Index some files."""
        index: dict[bytes, list[Path]] = defaultdict(list)
        others: list[tuple[Path, bytes]] = []
        for path, data in texts.items():
            if _is_indexed(path, data):
                for word in set(_WORD.findall(data)):
                    index[word].append(path)
            else:
                others.append((path, data))
        return cls(index, others, {})

    def renewed(self, texts: Mapping[Path, bytes]) -> Words:
        """The same with other texts of some files."""
        return Words(self.index, self.others, {**self.changed, **texts})

    def mentioning(self, word: bytes, *, anywhere: bool) -> list[Path]:
        """The files in which a word occurs: those that may launch, or `anywhere`."""
        if not anywhere and not self.changed:
            return list(self.index.get(word, ()))
        whole = re.compile(rb"(?<![A-Za-z0-9_])%b(?![A-Za-z0-9_])" % re.escape(word))
        found = [path for path in self.index.get(word, ()) if path not in self.changed]
        for path, data in self.changed.items():
            if word in data and whole.search(data) is not None and _is_indexed(path, data):
                insort(found, path)
        others = [(path, data) for path, data in self.others if path not in self.changed] if anywhere else []
        others += [
            (path, data) for path, data in self.changed.items() if not _is_indexed(path, data)
        ] * anywhere
        return found + [path for path, data in others if word in data and whole.search(data) is not None]


def _is_indexed(path: Path, data: bytes) -> bool:
    return b"triton" in data.lower() or b"](" in data or path.name == "__init__.py"


def _source(path: Path, data: bytes | None) -> Source | None:
    """The text of a file, or `data` in its place; None if it cannot be read or parsed."""
    try:
        shown = display_path(path)
        source = Source.read(path, shown) if data is None else Source.from_bytes(data, shown)
        source.tree  # noqa: B018 - parses, or raises
    except (OSError, ParseFailure):
        return None
    return source


def _words_for(home: Path) -> tuple[bytes, ...]:
    """The names by which a file's own things are reached: its own, and those of the folders that hold it."""
    return tuple(part.encode("utf-8", "surrogatepass") for part in (home.stem, *home.parent.parts[-2:]))


@dataclass(frozen=True, slots=True)
class Reach:
    """What a file can mean by a name that another file defines, read off its text without parsing it."""

    data: bytes
    imported: frozenset[bytes]
    asked: frozenset[bytes]
    """Names that are asked of something, `x.name`, which is no library: `tl.max` is none of ours."""
    star: bool
    """Whether it imports everything of some module."""

    @classmethod
    def of(cls, data: bytes) -> Reach:
        """Read a text."""
        lists = _LISTS.findall(data) + _IMPORTS.findall(data)
        of_libraries = Counter(_OF_LIBRARY.findall(data))
        return cls(
            data,
            frozenset(word for names in lists for word in _WORD.findall(names)),
            frozenset(n for n, count in Counter(_ASKED.findall(data)).items() if count > of_libraries[n]),
            _STAR.search(data) is not None,
        )

    def has(self, name: str, homes: tuple[bytes, ...], *, called: bool = False) -> bool:
        """Whether `name` can be what another file defines: imported, or asked of a module in `homes`.

        With `called`, whether it is called, too. Where every file has a kernel of the same name, or uses the
        name for something of its own, this saves parsing all of them for the sake of one.
        """
        word = name.encode()
        near = not homes or any(place in self.data for place in homes)
        if not (self.star or word in self.imported or (near and word in self.asked)):
            return False
        # The word first: a pattern that starts with letters is searched for many times faster.
        whole = rb"%b(?<![A-Za-z0-9_]%b)[\s\\]*\(" % (re.escape(word), re.escape(word))
        return not called or re.search(whole, self.data) is not None


def _whole(word: bytes) -> bytes:
    """A pattern for a word that is no part of another; letters beyond ASCII are bytes above 127."""
    return rb"(?<![\w\x80-\xff])" + re.escape(word) + rb"(?![\w\x80-\xff])"


_IMPORTS = re.compile(rb"import\b((?:[^\n(\\#]|\\\r?\n)*)")
_LISTS = re.compile(rb"import\s*(?:\\\r?\n\s*)?\(((?:[^()#]|#[^\n]*)*)\)")
"""The names of an import in parentheses; what a comment there says may hold parentheses of its own."""
_STAR = re.compile(rb"import\s*\(?\s*\*")
_ASKED = re.compile(rb"\.\s*([A-Za-z_][A-Za-z0-9_]*)")
_OF_LIBRARY = re.compile(rb"\b(?:tl|np|gl|torch|math|triton)\.\s*([A-Za-z_][A-Za-z0-9_]*)")


def _file_of(stem: Path, root: Path) -> Path | None:
    """The file that holds the module at `stem`, if it is inside `root`."""
    if not stem.name:  # the root of the file system, which enough dots reach
        return None
    for path in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
        if os.path.isfile(path) and (root in path.parents or root.parent in path.parents):
            return path
    return None


def display_path(path: Path) -> str:
    """A path as findings show it: relative to the working directory where it is below it."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return Path(os.path.relpath(path)).as_posix()
