"""What a run finds that is not news: it stands in a baseline, or was there where the branch began.

What reads and writes baselines is imported where there is something to look up, since every run comes here.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint import catalog
from tritonlint.config import Settings, SettingsFinder
from tritonlint.patterns import is_within
from tritonlint.run import Run

if TYPE_CHECKING:
    from tritonlint.baseline import Baseline, Change, Entry, Key
    from tritonlint.finding import Finding


@dataclass(frozen=True, slots=True)
class Base:
    """What was found at the revision where a branch began."""

    name: str
    """As the user names it."""
    keys: frozenset[Key]
    key_of: Callable[[Finding], Key | None]
    """What a finding is known by; None for one that has no past to be compared with."""

    def holds(self, finding: Finding) -> bool:
        """Whether a finding was there before, or is none of the branch's."""
        key = self.key_of(finding)
        return key is None or key in self.keys


class Known:
    """The baselines and the base of a run, and what of its findings they silence."""

    def __init__(
        self,
        finder: SettingsFinder,
        paths: Iterable[Path],
        *,
        baselines: bool = True,
        writes: bool = False,
        target: Path | None = None,
        base: Base | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            finder: gives the settings of every file, and so its baseline.
            paths: what is checked.
            baselines: whether those of the settings silence anything.
            writes: whether a baseline will be written, so that it need not exist.
            target: the one to write; None for those of the settings, or one beside the configuration.
            base: what was there before.
        """
        self._finder, self._paths = finder, [os.path.abspath(path) for path in paths]
        self._uses_baselines, self._writes, self.base = baselines, writes, base
        self._target = target.absolute() if target is not None else None
        self._read: dict[Path, Baseline] = {}
        self._keys: dict[Path, frozenset[Key]] = {}
        self.found: list[Finding] = []
        """All that the run found, known or not."""
        self._run = Run()
        self._wrote = False
        self.in_baseline = 0
        self.in_base = 0

    def leave_out(self, run: Run) -> None:
        """Take what is known out of the findings of a run.

        Raises:
            BaselineError: a baseline cannot be used.
        """
        self._run, self.found = run, list(run.findings)
        kept = [finding for finding in run.findings if not self._in_baseline(finding)]
        self.in_baseline = len(run.findings) - len(kept)
        news = [finding for finding in kept if not self._in_base(finding)]
        self.in_base = len(kept) - len(news)
        if len(news) < len(run.findings):
            run.weigh(news, self._finder)

    def is_news(self, finding: Finding) -> bool:
        """Whether a finding is in no baseline and not in the base."""
        return not self._in_baseline(finding) and not self._in_base(finding)

    def _in_baseline(self, finding: Finding) -> bool:
        from tritonlint import baseline

        file = self._file_for(finding.path)
        if file is None or not baseline.takes(finding):
            return False
        known = self._baseline(file)
        if file not in self._keys:
            self._keys[file] = known.keys
        return known.key_of(finding) in self._keys[file]

    def _in_base(self, finding: Finding) -> bool:
        from tritonlint import baseline

        return self.base is not None and baseline.takes(finding) and self.base.holds(finding)

    def _file_for(self, path: str | Path) -> Path | None:
        """The baseline that speaks for a file."""
        settings = self._finder.of_file(Path(path))
        if self._wrote:
            return self._place_of(settings)
        return settings.baseline if self._uses_baselines else None

    def _baseline(self, file: Path) -> Baseline:
        from tritonlint import baseline

        if file not in self._read:
            is_new = self._writes and not os.path.lexists(file)
            self._read[file] = baseline.Baseline(file) if is_new else baseline.read(file)
        return self._read[file]

    @property
    def has_baseline(self) -> bool:
        """Whether a baseline was looked at."""
        return bool(self._read)

    def is_in_force(self, file: Path) -> bool:
        """Whether a baseline is one that the settings name."""
        named = {self._finder.of_folder(path).baseline for path in self._paths}
        return file in named | {self._finder.of_file(Path(one.path)).baseline for one in self.found}

    # --- what matches nothing any more ----------------------------------------------------------------
    def stale(self) -> dict[Path, list[Entry]]:
        """The entries of each baseline that match nothing any more, as far as this run can tell."""
        if not self._uses_baselines:
            return {}
        folders = {os.path.dirname(file) for file in self._run.read} | set(self._paths)
        settings = [self._finder.of_folder(folder) for folder in sorted(folders)]
        files = dict.fromkeys(one.baseline for one in settings if one.baseline is not None)
        return {file: stale for file in files if (stale := self._stale_in(self._baseline(file)))}

    def _stale_in(self, known: Baseline) -> list[Entry]:
        """The entries of which a rule that ran in a file that was read says that there is no such finding."""
        from tritonlint import baseline

        found = {known.key_of(finding) for finding in self.found}
        # Where a file or a rule could not be understood, nothing is known to be gone.
        broken = {known.place(one.path) for one in self.found if not baseline.takes(one)}
        read = {known.place(file) for file in self._run.read} - broken
        return [entry for entry in known.entries if entry.key not in found and self._ran(known, entry, read)]

    def _ran(self, known: Baseline, entry: Entry, read: set[str]) -> bool:
        file = known.path_of(entry)
        if entry.path not in read:
            return not os.path.lexists(file) and any(
                path == str(file) or is_within(str(file), Path(path)) for path in self._paths
            )
        settings = self._finder.of_file(file)
        if entry.code not in catalog.load(settings.packs).documented:
            return True
        is_shown = entry.confidence.rank >= settings.min_confidence.rank
        return is_shown and settings.enables(entry.code, settings.ignored_in(file))

    # --- writing --------------------------------------------------------------------------------------
    def written(self) -> list[Change]:
        """The baselines with all that is found; what is not in question in this run stays in them.

        Raises:
            BaselineError: one that is there cannot be used.
        """
        from tritonlint import baseline

        by_file: dict[Path, list[Finding]] = defaultdict(list)
        for path in self._paths:
            by_file[self._place_of(self._finder.of_folder(path))] = []
        for finding in self.found:
            by_file[self._place_of(self._finder.of_file(Path(finding.path)))].append(finding)
        changes = []
        for file, found in by_file.items():
            before = self._baseline(file)
            changes.append(baseline.renewed(before, found, self._stale_in(before)))
        self._wrote = True
        self._take_over(changes)
        return changes

    def _place_of(self, settings: Settings) -> Path:
        from tritonlint import baseline

        folder = settings.file.absolute().parent if settings.file is not None else Path.cwd()
        return self._target or settings.baseline or folder / baseline.FILE_NAME

    def pruned(self) -> list[Change]:
        """The baselines without the entries that match nothing any more."""
        from tritonlint import baseline

        changes = [baseline.renewed(self._baseline(file), (), gone) for file, gone in self.stale().items()]
        self._take_over(changes)
        return changes

    def _take_over(self, changes: list[Change]) -> None:
        for change in changes:
            self._read[change.after.file] = change.after
            self._keys.pop(change.after.file, None)
