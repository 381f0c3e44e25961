"""Does the kernel compile? Triton's own compiler is asked, which takes no GPU."""

from __future__ import annotations

from collections.abc import Iterator

from tritonlint.confirm.backends import CAPABILITY
from tritonlint.confirm.capture import TunedLaunch
from tritonlint.confirm.compiled_lines import leave_out, recorded
from tritonlint.confirm.experiment import (
    Experiment,
    Lab,
    Outcome,
    confirmed,
    names_in,
    not_reached,
    refuted,
    sizes_of,
)
from tritonlint.confirm.launches import Launch, fresh
from tritonlint.finding import Finding

COMPILER = f"compiler (sm_{CAPABILITY})"
_POWER = ("power of 2", "power of two", "power-of-two", "powers of 2", "powers of two")
_CONSTEXPR = ("constexpr", "constant", "compile time", "compile-time")


class Compiles(Experiment):
    """TL201, TL202, TL402: as launched.

    A width that happens to be a power of two does not refute TL202: the size that gives another one was
    not reached.
    """

    codes = ("TL201", "TL202", "TL402")

    def try_launch(
        self, finding: Finding, launch: Launch, tuned: TunedLaunch | None, lab: Lab
    ) -> Outcome | None:
        """See `Experiment.try_launch`."""
        own = launch.with_function(fresh(launch.function))
        words = _CONSTEXPR if finding.code == "TL402" else _POWER
        with recorded() as lines:
            error = compile_error(own, lab)
        if error is not None:
            if not any(word in error for word in words):
                return None  # something else is wrong with it
            return confirmed(
                f"does not compile: {last_line(error)}", COMPILER, launch=sizes_of(finding, launch)
            )
        if leave_out(lines, finding, own):
            return not_reached(f"compiled without this line ({sizes_of(finding, launch)})", COMPILER)
        if finding.code == "TL202":
            for name, value, other in _neighbours(finding, own):
                error = compile_error(other, lab)
                if error is not None and any(word in error for word in words):
                    text = f"{name}={value} as launched compiles, {value - 1} would not"
                    return not_reached(
                        f"{text}: {last_line(error)}", COMPILER, launch=sizes_of(finding, launch)
                    )
        return refuted(f"compiles as launched ({sizes_of(finding, launch)})", COMPILER)


def compile_error(launch: Launch, lab: Lab) -> str | None:
    """What the compiler says against a launch, None if it compiles."""
    try:
        lab.backend.compile(launch)
    except Exception as error:  # noqa: BLE001 - whatever it says is the answer
        text, cause = str(error), error.__cause__
        while cause is not None:
            text, cause = f"{text}\n{cause}", cause.__cause__
        return text
    return None


def last_line(text: str) -> str:
    """The line of a compiler's message that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" ^\t")]
    return (lines[-1] if lines else "no word")[:200]


def _neighbours(finding: Finding, launch: Launch) -> Iterator[tuple[str, int, Launch]]:
    """The launch with one width less by one, for widths that the finding speaks of."""
    for name in names_in(finding, launch.constants):
        value = launch.arguments[name]
        if isinstance(value, int) and not isinstance(value, bool) and value > 3:
            yield name, value, launch.with_arguments({**launch.arguments, name: value - 1})
