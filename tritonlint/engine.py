"""One file in, findings out. A rule that fails becomes a finding, and the rest go on.

`check_source` is a pure function of a text, its path, the settings and the project around it, so the files
of a run can be spread over processes or machines in any way. Neither the model nor a rule pack is imported
before a file turns up that mentions Triton.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint import catalog
from tritonlint.config import Settings, SettingsFinder
from tritonlint.failure import failed, invalid_syntax
from tritonlint.files import Found, discover, display_path
from tritonlint.finding import Finding, Range
from tritonlint.fingerprint import stable_path, with_fingerprints
from tritonlint.source import ParseFailure, Source
from tritonlint.suppression import KernelLines, apply_suppressions, read_suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tritonlint.model import Kernel, Module, Project
    from tritonlint.rule import Rule


STDIN = "<stdin>"
"""The path that findings show for a text without a name."""


@dataclass(slots=True)
class Run:
    """What one run saw and found."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    """Files that were read."""
    triton_files: int = 0
    """Those of them that mention Triton, and so were checked."""
    failing: bool = False
    """Whether a finding is at or above the severity at which the settings of its file fail."""
    errors: list[str] = field(default_factory=list)
    """Files and folders that could not be read, in words."""
    incomplete: bool = False
    """Whether one of them was asked for by name, so that an answer is missing."""
    rules: dict[str, type[Rule]] = field(default_factory=dict)
    """The documented rules of every pack that was loaded, by code."""

    def add(self, findings: list[Finding], settings: Settings) -> None:
        """Count the findings of one checked file."""
        self.triton_files += 1
        self.findings += findings
        self.rules |= catalog.load(settings.packs).documented
        self.failing |= any(finding.severity.rank >= settings.fail_on.rank for finding in findings)


class Context:
    """What the files of a run share: the project each belongs to. Every process has its own."""

    def __init__(self) -> None:
        self._projects: dict[Path, Project] = {}

    def renewed(self) -> Context:
        """For another text of a file that was checked: what was read is kept, what was concluded is not."""
        other = Context()
        other._projects = {root: project.renewed() for root, project in self._projects.items()}
        return other

    def project(self, root: Path) -> Project:
        """The project whose root folder is `root`."""
        from tritonlint.model import Project

        if root not in self._projects:
            self._projects[root] = Project(root)
        return self._projects[root]


def mentions_triton(data: bytes) -> bool:
    """Whether a file can hold Triton code at all: the cheapest test that misses none."""
    return b"triton" in data or b"gluon" in data


def check_paths(paths: Iterable[Path], finder: SettingsFinder | None = None) -> Run:
    """Check files and folders.

    Raises:
        ConfigError: a configuration file cannot be used.
        PackError: a rule pack cannot be loaded.
    """
    finder = finder or SettingsFinder()
    run, context = Run(), Context()
    named = {os.path.abspath(path): path for path in paths}

    def note_error(path: Path, error: OSError) -> None:
        run.errors.append(f"{display_path(path)}: cannot be read: {error.strerror or error}")
        run.incomplete |= os.path.abspath(path) in named

    for found in discover(named.values(), finder, note_error):
        try:
            data = found.file.read_bytes()
        except OSError as error:
            note_error(found.file, error)
            continue
        run.files += 1
        if mentions_triton(data):
            settings = finder.of_file(found.file)
            run.add(check_file(found, data, settings, context), settings)
    run.findings.sort(key=lambda finding: finding.sort_key)
    return run


def check_text(data: bytes, file: Path | None, finder: SettingsFinder | None = None) -> Run:
    """Check a text that need not be on disk, such as standard input, as the content of `file`.

    Raises:
        ConfigError: a configuration file cannot be used.
        PackError: a rule pack cannot be loaded.
    """
    finder = finder or SettingsFinder()
    run = Run(files=1)
    if not mentions_triton(data):
        return run
    if file is None:
        settings = finder.of_folder(Path.cwd())
        run.add(check_source(data, STDIN, settings), settings)
    else:
        settings = finder.of_file(file)
        run.add(check_file(Found(file.absolute(), file.absolute().parent), data, settings), settings)
    return run


def check_file(
    found: Found, data: bytes, settings: Settings, context: Context | None = None
) -> list[Finding]:
    """The findings of one file on disk, whose content is `data`."""
    from tritonlint.model import project_root

    root = project_root(found.file, found.given)
    return check_source(data, display_path(found.file), settings, file=found.file, root=root, context=context)


def check_source(
    text: str | bytes,
    path: str = "<text>",
    settings: Settings | None = None,
    *,
    file: Path | None = None,
    root: Path | None = None,
    context: Context | None = None,
) -> list[Finding]:
    """The findings of one text, sorted, with fingerprints.

    Args:
        text: the content of the file, as text or as the bytes on disk.
        path: what findings show as path.
        settings: what to check; the defaults if None.
        file: where the file lies, if it does; launches and helpers in files around it then count, too.
        root: the folder of its project.
        context: shared by the files of one run, so that a project is read once.

    Raises:
        PackError: a rule pack of the settings cannot be loaded.
    """
    settings = settings or Settings()
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if not mentions_triton(data):
        return []
    try:
        source = Source(path, text) if isinstance(text, str) else Source.from_bytes(text, path)
    except ParseFailure as failure:
        source, unread = Source(path, ""), [invalid_syntax(failure, path)]
        return with_fingerprints(unread, source.lines, stable_path(file, root, path))
    stamp = partial(with_fingerprints, lines=source.lines, path=stable_path(file, root, path))
    module = _model(source, file, root, context or Context())
    if not isinstance(module, Finding):
        module.policy = settings.policy
    if isinstance(module, Finding):
        return stamp([module])
    return _check(module, settings, settings.ignored_in(file), stamp)


def _model(source: Source, file: Path | None, root: Path | None, context: Context) -> Module | Finding:
    """What the text means, or the finding that says why that is unknown."""
    try:
        _ = source.tree
        # A text without a place has no files around it: nothing can be found under the null device.
        module = context.project(root or Path(os.devnull)).module(source, file)
        _ = module.kernels
    except ParseFailure as failure:
        return invalid_syntax(failure, source.path)
    except Exception as error:  # noqa: BLE001 - whatever the model raises must cost this file only
        return failed("the model of this file", error, source.path)
    return module


def _check(
    module: Module,
    settings: Settings,
    ignored_here: tuple[str, ...],
    stamp: Callable[[list[Finding]], list[Finding]],
) -> list[Finding]:
    known = catalog.load(settings.packs)

    def ran(code: str) -> bool:
        return code in known.documented and settings.enables(code, ignored_here)

    findings = [finding for rule in known.rules if ran(rule.code) for finding in run_rule(rule, module)]
    # Fingerprints count equal findings, so they are given before any of them is silenced.
    findings = stamp(_distinct(findings))
    kernels = [_kernel_lines(kernel) for kernel in module.kernels]
    suppressions = read_suppressions(module.source.normalized, kernels, known.names)
    findings = stamp(apply_suppressions(findings, suppressions, ran, module.source.path))
    return [finding for finding in findings if finding.confidence.rank >= settings.min_confidence.rank]


def _kernel_lines(kernel: Kernel) -> KernelLines:
    node = kernel.node
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return KernelLines(kernel.name, first, node.lineno, node.end_lineno or node.lineno)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """One finding for each rule and place, the surest; failures of several rules may share a place."""
    best: dict[tuple[str, Range, str], Finding] = {}
    for finding in findings:
        message = finding.message if finding.code in catalog.UNSUPPRESSIBLE else ""
        key = (finding.code, finding.range, message)
        if key not in best or best[key].confidence.rank < finding.confidence.rank:
            best[key] = finding
    return list(best.values())


def run_rule(rule: Rule, module: Module) -> list[Finding]:
    """The findings of one rule in one file, and one TL903 if it raised.

    A rule that looks at one kernel at a time and fails in one is still asked about the others.
    """
    findings: list[Finding] = []
    failures: list[tuple[Kernel | None, Exception]] = []
    for kernel, check in _parts(rule, module):
        try:
            for finding in check():
                if finding.path != module.source.path:
                    raise ValueError(f"it reported `{finding.path}`, a file it was not asked about")
                findings.append(finding)
        except Exception as error:  # noqa: BLE001 - whatever a rule raises is reported as its failure
            failures.append((kernel or _kernel_of(error, module), error))
    if failures:
        findings.append(_rule_failed(rule, failures, module))
    return findings


def _parts(rule: Rule, module: Module) -> Iterator[tuple[Kernel | None, Callable[[], Iterator[Finding]]]]:
    from tritonlint.rule import Rule as BaseRule

    if type(rule).check_module is not BaseRule.check_module:
        yield None, partial(rule.check_module, module)
        return
    for kernel in module.kernels:
        yield kernel, partial(rule.check, kernel)


def _kernel_of(error: Exception, module: Module) -> Kernel | None:
    """The kernel that the failing rule was looking at, if one of its variables holds it."""
    trace, found = error.__traceback__, None
    while trace is not None:
        for kernel in module.kernels:
            if any(value is kernel for value in trace.tb_frame.f_locals.values()):
                found = kernel
        trace = trace.tb_next
    return found


def _rule_failed(rule: Rule, failures: list[tuple[Kernel | None, Exception]], module: Module) -> Finding:
    kernel, error = failures[0]
    who = f"rule `{rule.rule_name()}` ({rule.code})"
    if kernel is None:
        return failed(who, error, module.source.path)
    others = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    return failed(
        who,
        error,
        module.source.path,
        where=f" in kernel `{kernel.name}`{others}",
        kernel=kernel.name,
        place=module.source.range_of(kernel.node),
    )
