"""The findings of the engine itself, documented like any rule. They check nothing: the engine makes them."""

from __future__ import annotations

from tritonlint.finding import Severity
from tritonlint.rule import Rule


class InvalidSyntax(Rule):
    """A file that mentions Triton cannot be read as Python.

    ## What it does
    Reports a file that does not parse, does not decode, or holds NUL bytes, at the place where reading
    stopped. Such a file is not checked any further. The finding is always on, and no comment silences it.

    ## Why is this bad?
    A kernel in that file has not been looked at. Without this finding, a run would pass because it saw
    nothing.

    ## Example
    ```python
    import triton

    @triton.jit
    def add(x_ptr, n:  # expect: invalid-syntax
        pass
    ```

    ## Use instead
    ```python
    import triton

    @triton.jit
    def add(x_ptr, n):
        pass
    ```

    ## Fix safety
    There is no fix. If the file is no Python on purpose, name it under `exclude`. If it is written for a
    newer Python than the one that runs tritonlint, run tritonlint on that Python.

    ## References
    - [The Python language reference: source encodings](https://docs.python.org/3/reference/lexical_analysis.html#encoding-declarations)
    """

    code = "TL901"
    severity = Severity.ERROR


class UnusedSuppression(Rule):
    """A comment asks to silence a finding that is not there.

    ## What it does
    Reports `# tritonlint: ignore[...]`, `# tritonlint: ignore-file[...]` and `# noqa: TL...` comments
    that silence nothing, name no rule, or name one that does not exist. It speaks only of rules that ran,
    so a run with `--select TL1` does not complain of a comment for TL501. A bare `# noqa` is left alone:
    it belongs to other tools.

    ## Why is this bad?
    The comment outlives the problem it excused, and silences the next one that comes to stand on its
    line.

    ## Example
    ```python
    import triton

    @triton.jit
    def empty(x_ptr):
        pass  # tritonlint: ignore[unmasked-access]  # expect: unused-suppression
    ```

    ## Use instead
    ```python
    import triton

    @triton.jit
    def empty(x_ptr):
        pass
    ```

    ## Fix safety
    Removing the comment changes nothing else. Where the comment shall stay, for instance because it is
    needed on another platform only, write `# tritonlint: ignore[TL101, TL902]`.

    ## References
    - [Flake8: selecting and ignoring violations](https://flake8.pycqa.org/en/latest/user/violations.html)
    """

    code = "TL902"
    severity = Severity.WARNING


class RuleFailed(Rule):
    """A rule raised an exception instead of giving an answer.

    ## What it does
    Reports that one rule could not finish with one file, and where in the rule that happened. All other
    rules, and the same rule on all other files, went on. The finding is always on, and no comment
    silences it.

    ## Why is this bad?
    It is a bug in that rule, not in the file. What the rule would have found there is unknown.

    ## Example
    A rule that divides by the number of loads of a kernel, and a kernel that has none:

    ```text
    kernels.py:5:1: error TL903 rule-failed: rule `loads-per-store` (XY101) failed ...
    ```

    ## Use instead
    Nothing in the checked file needs to change. Please report the message, with the kernel if it can be
    shown. `--ignore` with the code of the failing rule keeps that rule from running until it is repaired.

    ## Fix safety
    There is no fix.

    ## References
    - `CONTRIBUTING.md`, section "When a rule fails"
    """

    code = "TL903"
    severity = Severity.ERROR


ENGINE_RULES: tuple[type[Rule], ...] = (InvalidSyntax, UnusedSuppression, RuleFailed)
