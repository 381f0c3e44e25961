"""One file in, findings out. A rule that fails becomes a finding, and the rest go on.

`check_source` is a pure function of a text, its path, the settings and the project around it, so the files
of a run can be spread over processes or machines in any way. Neither the model nor a rule pack is imported
before a file turns up that mentions Triton.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from tritonlint import catalog
from tritonlint.config import Settings
from tritonlint.failure import failed, invalid_syntax
from tritonlint.files import Found, display_path, mentions_triton
from tritonlint.finding import Confidence, Finding, Range
from tritonlint.fingerprint import stable_path, with_fingerprints
from tritonlint.roots import is_notebook, project_root
from tritonlint.source import ParseFailure, Source
from tritonlint.suppression import CODE as UNUSED
from tritonlint.suppression import KernelLines, apply_suppressions, read_suppressions
from tritonlint.syntax import first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from tritonlint.model import Kernel, Module, Project
    from tritonlint.rule import Rule


class Context:
    """What the files of a run share: the project each belongs to. Every process has its own."""

    def __init__(self, texts: Mapping[Path, bytes] | None = None) -> None:
        self.texts = dict(texts or {})
        """What some files hold instead of what is on disk."""
        self._projects: dict[Path, Project] = {}
        self.seconds: dict[str, float] = defaultdict(float)
        """Where the time went: by rule, and before the rules were asked."""
        self.poll: Callable[[], None] = _go_on
        """Is called now and then; what it raises ends the check, if it is no `Exception`."""

    def renewed(self, texts: Mapping[Path, bytes] | None = None) -> Context:
        """For other texts of files that were checked: what was read is kept, what was concluded is not."""
        other = Context({**self.texts, **(texts or {})})
        other._projects = {root: project.renewed(other.texts) for root, project in self._projects.items()}
        return other

    def text(self, path: Path) -> bytes:
        """What a file holds, or is taken to hold.

        Raises:
            OSError: it cannot be read.
        """
        return self.texts[path] if path in self.texts else path.read_bytes()

    def project(self, root: Path) -> Project:
        """The project whose root folder is `root`."""
        from tritonlint.model import Project

        if root not in self._projects:
            self._projects[root] = Project(root, self.texts)
        self._projects[root].poll = self.poll
        return self._projects[root]

    def keep_near(self, root: Path) -> None:
        """Forget the projects that neither hold this one nor lie in it, so that memory does not add up.

        Of nested projects, files come by turns.
        """
        far = [one for one in self._projects if not (one.is_relative_to(root) or root.is_relative_to(one))]
        for other in far:
            del self._projects[other]
        if far:
            gc.collect()  # modules and what they hold refer to each other


def _go_on() -> None:
    """Nobody wants to stop."""


def check_file(
    found: Found, data: bytes, settings: Settings, context: Context | None = None
) -> list[Finding]:
    """The findings of one file on disk, whose content is `data`."""
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
        if isinstance(text, str) and not is_notebook(path):
            source = Source(path, text)
        else:
            source = Source.from_bytes(data, path)
    except ParseFailure as failure:
        source, unread = Source(path, ""), [invalid_syntax(failure, path)]
        return with_fingerprints(unread, source.lines, stable_path(file, root, path))
    book = source.notebook
    if book is not None and not mentions_triton(source.text.encode("utf-8", "surrogatepass")):
        return []  # only its text cells or outputs do
    stamp = partial(with_fingerprints, lines=source.lines, path=stable_path(file, root, path))
    context = context or Context()
    start = perf_counter()
    module = _model(source, file, root, context)
    context.seconds["parsing"] += perf_counter() - start
    if not isinstance(module, Finding):
        module.policy = settings.policy
    if isinstance(module, Finding):
        findings = stamp([module])
    else:
        findings = _check(module, None, settings, settings.ignored_in(file), stamp, context)
    return findings if book is None else [replace(finding, cells=book.places) for finding in findings]


def check_kernels(
    module: Module, kernels: Collection[Kernel], settings: Settings, context: Context
) -> list[Finding]:
    """What rules find in some kernels of a file, and those that look at whole files in all of it.

    Comments silence findings here, too, but nothing is said of those that silence nothing.

    Args:
        module: what was made of the file before.
        kernels: those of its kernels that are in question.
        settings: what to check.
        context: that the module was made in.

    Raises:
        PackError: a rule pack of the settings cannot be loaded.
    """
    module.policy = settings.policy
    path = stable_path(module.file, module.project.root, module.source.path)
    stamp = partial(with_fingerprints, lines=module.source.lines, path=path)
    return _check(module, kernels, settings, settings.ignored_in(module.file), stamp, context)


def rules_of_kernels(settings: Settings) -> frozenset[str]:
    """The codes of the rules that look at one kernel at a time.

    Raises:
        PackError: a rule pack of the settings cannot be loaded.
    """
    return frozenset(r.code for r in catalog.load(settings.packs).rules if not _looks_at_modules(r))


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
    some: Collection[Kernel] | None,
    settings: Settings,
    ignored_here: tuple[str, ...],
    stamp: Callable[[list[Finding]], list[Finding]],
    context: Context,
) -> list[Finding]:
    known = catalog.load(settings.packs)

    def ran(code: str) -> bool:
        if code == UNUSED and some is not None:
            return False
        is_ours = code in known.documented and code not in catalog.OBSERVED
        return is_ours and settings.enables(code, ignored_here)

    book = module.source.notebook
    # A cell that cannot be read costs no other.
    findings = [invalid_syntax(one, module.source.path) for one in (book.failures if book else ())]
    for rule in known.rules:
        if ran(rule.code):
            context.poll()
            start = perf_counter()
            findings += run_rule(rule, module, some)
            context.seconds[rule.code] += perf_counter() - start
    # Fingerprints count equal findings, so they are given before any of them is silenced.
    findings = stamp(_distinct(findings))
    kernels = [_kernel_lines(kernel) for kernel in module.kernels]
    suppressions = read_suppressions(module.source.code, kernels, known.names)
    findings = stamp(apply_suppressions(findings, suppressions, ran, module.source.path))
    return [finding for finding in findings if finding.confidence.rank >= settings.min_confidence.rank]


def _kernel_lines(kernel: Kernel) -> KernelLines:
    node = kernel.node
    return KernelLines(kernel.name, first_line(node), node.lineno, node.end_lineno or node.lineno)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """One finding for each rule and place, the surest; failures of several rules may share a place."""
    best: dict[tuple[str, Range, str], Finding] = {}
    for finding in findings:
        message = finding.message if finding.code in catalog.UNSUPPRESSIBLE else ""
        key = (finding.code, finding.range, message)
        if key not in best or best[key].confidence.rank < finding.confidence.rank:
            best[key] = finding
    return list(best.values())


def run_rule(rule: Rule, module: Module, some: Collection[Kernel] | None = None) -> list[Finding]:
    """The findings of one rule in one file, in some kernels of it if it looks at one at a time.

    One TL903 if it raised.

    A rule that looks at one kernel at a time and fails in one is still asked about the others.
    """
    from tritonlint.model.context import is_vendored

    findings: list[Finding] = []
    failures: list[tuple[Kernel | None, Exception]] = []
    is_copy = rule.is_about_speed and is_vendored(module)
    for kernel, check in _parts(rule, module, some):
        try:
            for finding in check():
                if finding.path != module.source.path:
                    raise ValueError(f"it reported `{finding.path}`, a file it was not asked about")
                if finding.confidence is not Confidence.LOW and (
                    is_copy or _is_out_of_use(finding, rule, module)
                ):
                    finding = replace(finding, confidence=Confidence.LOW)
                findings.append(finding)
        except Exception as error:  # noqa: BLE001 - whatever a rule raises is reported as its failure
            failures.append((kernel or _kernel_of(error, module), error))
    if failures:
        findings.append(_rule_failed(rule, failures, module))
    return findings


def _is_out_of_use(finding: Finding, rule: Rule, module: Module) -> bool:
    """Whether a finding is about kernels nobody would miss, or advice on speed nobody would feel."""
    from tritonlint.model.disuse import is_nowhere_named, is_out_of_use

    kernels = [kernel for kernel in module.kernels if kernel.name == finding.kernel]
    idle = is_out_of_use if rule.is_about_speed else is_nowhere_named
    return bool(kernels) and all(idle(kernel) for kernel in kernels)


def _parts(
    rule: Rule, module: Module, some: Collection[Kernel] | None
) -> Iterator[tuple[Kernel | None, Callable[[], Iterator[Finding]]]]:
    if not _looks_at_modules(rule):
        for kernel in module.kernels if some is None else some:
            yield kernel, partial(rule.check, kernel)
    else:
        yield None, partial(rule.check_module, module)


def _looks_at_modules(rule: Rule) -> bool:
    from tritonlint.rule import Rule as BaseRule

    return type(rule).check_module is not BaseRule.check_module


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
