"""What a client shows where the pointer rests: the rule of a finding, or what the model knows of a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tritonlint.finding import Finding, Position
from tritonlint.model.bounds import axes_of, offset_of, report
from tritonlint.model.dtypes import UNKNOWN_DTYPE
from tritonlint.model.exposure import base_of, constexprs_of
from tritonlint.model.kernel import launches_of
from tritonlint.model.proof import Proof
from tritonlint.model.values import Number

if TYPE_CHECKING:
    from tritonlint.model import Kernel, Module
    from tritonlint.model.records import Access, Trace
    from tritonlint.rule import Rule

_SAID = {
    Proof.YES: "is kept inside",
    Proof.NO: "is open: nothing keeps it inside",
    Proof.UNKNOWN: "may be kept inside: it cannot be seen",
}


def of_rules(findings: Sequence[Finding], place: Position, rules: Mapping[str, type[Rule]]) -> str | None:
    """The documentation of the rules that speak of a place, as Markdown."""
    here = [one for one in findings if one.range.start <= place <= one.range.end and one.code in rules]
    texts = []
    for code in dict.fromkeys(one.code for one in here):
        rule = rules[code]
        texts.append(f"### {rule.rule_name()} ({code})\n\n{rule.documentation()}")
    return "\n\n---\n\n".join(texts) or None


def of_values(module: Module, place: Position) -> str | None:
    """What is known of the name or the access at a place inside a kernel, as Markdown."""
    for kernel in module.kernels:
        node = kernel.node
        if node.lineno <= place.line <= (node.end_lineno or node.lineno):
            name = _name_at(module, place)
            lines = list(_of_accesses(kernel, module, place))
            if name is not None:
                lines = [*_of_name(kernel, name, place), *lines]
            return "\n".join(lines) or None
    return None


def _name_at(module: Module, place: Position) -> ast.Name | None:
    names = (node for node in module.source.nodes if isinstance(node, ast.Name))
    for node in names:
        where = module.source.range_of(node)
        if where.start <= place <= where.end:
            return node
    return None


def _of_name(kernel: Kernel, name: ast.Name, place: Position) -> Iterator[str]:
    """The value that a name had last before a line, in each context that the kernel is evaluated in."""
    said: dict[str, None] = {}
    for trace in kernel.traces:
        known = [
            item
            for item in trace.assignments
            if item.name == name.id and kernel.mine(item.where) and _line(item.where.node) <= place.line
        ]
        if known and isinstance(value := known[-1].value, Number):
            shape = ", ".join(map(str, value.shape or ()))
            kind = f"tile [{shape}]" if shape else "scalar" if value.shape == () else "value"
            of_type = f" of {value.dtype}" if value.dtype != UNKNOWN_DTYPE else ""
            said[f"**`{name.id}`**: {kind}{of_type} = `{value.poly}`"] = None
    yield from (f"{line}  " for line in said)


def _of_accesses(kernel: Kernel, module: Module, place: Position) -> Iterator[str]:
    """The bounds of the load or store whose call holds a place."""
    said: dict[str, None] = {}
    for trace in kernel.traces:
        for access in trace.accesses:
            if kernel.mine(access.where):
                where = module.source.range_of(access.where.node)
                if where.start <= place <= where.end:
                    said |= dict.fromkeys(_of_access(access, trace))
    yield from said


def _of_access(access: Access, trace: Trace) -> Iterator[str]:
    launches = launches_of(trace.root)
    base = base_of(access.address.poly, trace, launches)
    offset = offset_of(access.address.poly, base)
    mask = "no mask" if access.mask is None else "a mask"
    yield f"- {access.kind} through `{base or '...'}` at `{offset}`, with {mask}"
    axes, _ = axes_of(offset, constexprs_of(trace))
    for axis in axes:
        found = report(axis, access)
        limit = f" below `{found.guard.limit}`" if found.guard is not None and found.guard.complete else ""
        yield f"  - the index `{axis.index}` {_SAID[found.bounded]}{limit}"


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))
