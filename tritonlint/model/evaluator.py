"""Walks statements and expressions once, in program order, on symbolic values.

The flow of control is the same for kernels and for host code: branches are followed both ways and
joined, loops are solved for what advances by a fixed step, early returns leave their negated
condition behind. What differs (calls, attributes, subscripts) is left to the two subclasses.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Items
from dataclasses import replace
from zlib import crc32

from tritonlint.model.arithmetic import as_condition, binary, comparison
from tritonlint.model.dtypes import BOOL, LITERAL_FLOAT, UNKNOWN_DTYPE, DType
from tritonlint.model.facts import fixed_by
from tritonlint.model.logic import FALSE, TRUE, Formula, both, either, equal, one_of, opaque
from tritonlint.model.symbolic import ONE, ZERO, Atom, Poly
from tritonlint.model.values import (
    NONE,
    UNKNOWN_VALUE,
    BlockPointer,
    Choice,
    LambdaValue,
    LazyImport,
    Mapping,
    NoneValue,
    Number,
    Scope,
    Sequence,
    Tensor,
    Text,
    Unknown,
    Value,
    deps_of,
    integer,
    kept,
    real,
    truth,
)
from tritonlint.syntax import walk

BUDGET = 60_000
"""Statements and expressions evaluated for one root before the rest is left unknown."""
ALLOWANCE = 10_000
"""What is left for the decorators of a function, whatever was spent before."""
MAX_DEPTH = 100
"""Expressions and blocks inside one another; what is deeper is unknown."""
MAX_KEY = 1000
"""Characters of the name of one of several tensors."""
MAX_LOOPS = 4
"""Loops inside one another that are run twice; in deeper ones what changes is unknown."""


class Evaluator:
    """Common part of the kernel and the host evaluator."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.conditions: list[Formula] = []
        self.returned: list[Value] = []
        self.return_grounds: set[str] = set()
        self.exits: list[tuple[Formula, ...]] = []
        """What holds at each `return`."""
        self.grounds: frozenset[str] = frozenset()
        """Kinds of atoms in the condition by which two values are being joined."""
        self.deciding: Formula | None = None
        """The condition of the `if` whose ways are being joined, the first of which it leads to."""
        self.recording = True
        self.spent = 0
        self.depth = 0
        """How many expressions and blocks the one at hand is in."""
        self.loops_around = 0
        self.statement: ast.stmt | None = None
        self.path_key: tuple[object, ...] = ()
        self.running: frozenset[Atom] = frozenset()
        """What stands for the iterations, and for values they hand on, of the loops being run."""
        self.star_imports: list[tuple[str, int]] = []

    # --- what the subclasses say ------------------------------------------------------------------
    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        return UNKNOWN_VALUE

    def attribute(self, node: ast.Attribute, value: Value) -> Value:
        """The value of `value.attr`."""
        return UNKNOWN_VALUE

    def subscript(self, node: ast.Subscript, value: Value) -> Value:
        """The value of `value[...]`."""
        return UNKNOWN_VALUE

    def missing(self, node: ast.Name) -> Value:
        """The value of a name no scope holds."""
        return UNKNOWN_VALUE

    def loop_over(self, node: ast.For | ast.AsyncFor) -> None:
        """Run a `for` statement."""
        self.havoc(node)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A nested definition."""
        self.scope.names[node.name] = UNKNOWN_VALUE

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """An import: its names are looked up when they are used."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                self.scope.names[alias.asname or whole] = LazyImport(whole, 0, None)
            return
        for alias in node.names:
            if alias.name == "*":
                self.star_imports.append((node.module or "", node.level))
            else:
                self.scope.names[alias.asname or alias.name] = LazyImport(
                    node.module or "", node.level, alias.name
                )

    def assigned(self, name: str, value: Value, node: ast.AST) -> Value:
        """Called when a name gets a value; returns the value to keep."""
        return value

    def accumulated(
        self, node: ast.AST, name: str, before: Value, added: Value, after: Value, part: ast.AST
    ) -> None:
        """Called for `name += added` and `name = name + added`."""

    def stored_into(self, target: ast.Subscript | ast.Attribute, value: Value) -> None:
        """Called for `a[i] = value` and `a.b = value`."""

    # --- statements -------------------------------------------------------------------------------
    def run(self, body: Iterable[ast.stmt]) -> bool:
        """Run statements; False if control never reaches the end."""
        if self.depth >= MAX_DEPTH:
            self.out_of_budget()
            return True
        self.depth += 1
        try:
            for statement in body:
                if not self._ran(statement):
                    return False
        finally:
            self.depth -= 1
        return True

    def _ran(self, statement: ast.stmt) -> bool:
        """Run one statement; False if control does not go on behind it."""
        self.spent += 1
        if self.spent > BUDGET:
            self.out_of_budget()
            if not isinstance(statement, _CHEAP):
                return True
        self.statement = statement
        handler = _STATEMENTS.get(type(statement))
        return handler is None or getattr(self, handler)(statement) is not False

    def _expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _assign(self, node: ast.Assign) -> None:
        self.wanted = _plain_count(node.targets[0])
        value = self.evaluate(node.value)
        self.wanted = None
        for target in node.targets:
            self.bind(target, value, node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._sum_written_out(node, node.targets[0].id, value)

    def _sum_written_out(self, node: ast.Assign, name: str, after: Value) -> None:
        """`x = x + y` and `x = x * scale + y` accumulate as `x += y` does."""
        before = self._before
        if before is None or not self.recording:
            return
        for part in _added_to(name, node.value):
            self.recording = False
            saved = self.scope.names.get(name)
            self.scope.names[name] = before
            added = self.evaluate(part)
            if saved is not None:
                self.scope.names[name] = saved
            self.recording = True
            self.accumulated(node, name, before, added, after, part)

    _before: Value | None = None
    wanted: int | None = None
    """How many values the assignment being evaluated unpacks into."""

    def _ann_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.annotated(self.evaluate(node.value), node.annotation)
            self.bind(node.target, value, node)

    def annotated(self, value: Value, annotation: ast.expr) -> Value:
        """The value of a local with an annotation."""
        return value

    def _aug_assign(self, node: ast.AugAssign) -> None:
        added = self.evaluate(node.value)
        if not isinstance(node.target, ast.Name):
            self.evaluate(node.target)
            if isinstance(node.target, ast.Subscript | ast.Attribute):
                self.stored_into(node.target, UNKNOWN_VALUE)
            return
        before = self.lookup(node.target)
        after = self.operate(node, node.op, before, added)
        self.bind(node.target, after, node)
        if isinstance(node.op, ast.Add | ast.Sub):
            self.accumulated(node, node.target.id, before, added, after, node.value)

    def bind(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Give `target` the value, unpacking tuples."""
        value = kept(value)
        if isinstance(target, ast.Name):
            self._before = self.scope.names.get(target.id)
            self.scope.names[target.id] = self.assigned(target.id, value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            for item, part in zip(target.elts, self.unpack(value, target.elts), strict=True):
                self.bind(item.value if isinstance(item, ast.Starred) else item, part, node)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self.stored_into(target, value)

    def unpack(self, value: Value, targets: Items[ast.expr]) -> list[Value]:
        """`len(targets)` parts of `value`."""
        count = len(targets)
        if isinstance(value, Sequence) and value.exact:
            stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
            if not stars and len(value.items) >= count:
                return list(value.items[:count])
            if len(stars) == 1 and len(value.items) >= count - 1:
                star, rest = stars[0], len(value.items) - (count - 1)
                middle = Sequence(value.items[star : star + rest])
                return [*value.items[:star], middle, *value.items[star + rest :]]
        return [Unknown(deps_of(value))] * count

    def _if(self, node: ast.If) -> bool:
        condition = self.condition(node.test)
        if condition.known is True:
            return self.run(node.body)
        if condition.known is False:
            return self.run(node.orelse)
        before = dict(self.scope.names)
        held = len(self.conditions)
        self.conditions.append(condition)
        through = self.run(node.body)
        then_names, then_learned = self.scope.names, self.conditions[held + 1 :]
        del self.conditions[held:]
        self.scope.names = before
        self.conditions.append(condition.negated())
        else_through = self.run(node.orelse)
        else_learned = self.conditions[held + 1 :]
        del self.conditions[held:]
        if through and else_through:
            self.grounds, self.deciding = frozenset(atom.kind for atom in condition.closure), condition
            else_names = self.scope.names
            changed = {name for name, value in then_names.items() if value is not else_names.get(name)}
            then_names = _pinned(then_names, changed, [condition, *then_learned])
            else_names = _pinned(else_names, changed, [condition.negated(), *else_learned])
            then_names = _picked(then_names, changed, condition)
            else_names = _picked(else_names, changed, condition.negated())
            self.scope.names = self.joined(then_names, else_names, node)
            self.grounds, self.deciding = frozenset(), None
            self.conditions += [either(condition.negated(), learned) for learned in then_learned[:4]]
            self.conditions += [either(condition, learned) for learned in else_learned[:4]]
        elif through:
            self.scope.names = then_names
            self.conditions += [condition, *then_learned]
        elif else_through:
            self.conditions += [condition.negated(), *else_learned]
        return through or else_through

    def condition(self, test: ast.expr) -> Formula:
        """The truth of an expression."""
        return self.truth_of(self.evaluate(test))

    def truth_of(self, value: Value) -> Formula:
        """The truth of a value."""
        if isinstance(value, Number):
            return as_condition(value)
        if isinstance(value, NoneValue):
            return FALSE
        if isinstance(value, Text):
            return TRUE if value.value else FALSE
        if isinstance(value, Sequence) and value.exact:
            return TRUE if value.items else FALSE
        deps = deps_of(value)
        return opaque(Poly.of(Atom("flag", frozenset(deps), self.site(self.statement))))

    def _while(self, node: ast.While) -> bool:
        self.loop_body(node, node.body, lambda: self.conditions.append(self.condition(node.test)))
        if _has_break(node):
            return True
        quiet, self.recording = self.recording, False
        self.conditions.append(self.condition(node.test).negated())
        self.recording = quiet
        return not (isinstance(node.test, ast.Constant) and node.test.value)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self.loop_over(node)

    def havoc(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop over something unknown."""
        source = self.evaluate(node.iter)

        def enter() -> None:
            item = Unknown(deps_of(source) | {Atom("item", self.site(node))})
            self.bind(node.target, item, node)

        self.loop_body(node, node.body, enter)
        self.run(node.orelse)

    def loop_body(
        self, node: ast.AST, body: list[ast.stmt], enter: Callable[[], object], trip: Atom | None = None
    ) -> None:
        """Run a loop body so that it speaks for every iteration.

        A first, silent pass finds what each iteration adds to the names it changes; names that
        advance by a fixed amount become `before + trip * amount`, the others unknown.
        """
        if self.loops_around >= MAX_LOOPS:
            self._run_once(node, body, enter)
            return
        self.loops_around += 1
        names = assigned_names(body)
        before = {name: self.scope.names[name] for name in sorted(names) if name in self.scope.names}
        held = len(self.conditions)
        marks = {name: Atom("carried", self.site(node), name) for name in before}
        for name, value in before.items():
            self.scope.names[name] = self.carried(value, marks[name])
        trip = trip or Atom("trip", self.site(node))
        outside, self.running = self.running, self.running | {trip, *marks.values()}
        outer_recording, self.recording = self.recording, False
        saved = dict(self.scope.names)
        enter()
        self.run(body)
        del self.conditions[held:]
        after, self.scope.names = self.scope.names, saved
        marked = set(marks.values())
        entries = {
            name: self._entry(value, after.get(name), marks[name], marked, trip)
            for name, value in before.items()
        }
        if any(_is_mask(value) and entries[name] != value for name, value in before.items()):
            # What an iteration makes of a mask rests on the numbers that it changes.
            self.scope.names = saved | entries
            enter()
            self.run(body)
            del self.conditions[held:]
            entries = {
                name: _as_handed_on(before[name], entry, self.scope.names.get(name), trip)
                for name, entry in entries.items()
            }
        self.recording = outer_recording
        self.scope.names = saved | entries
        enter()
        self.run(body)
        self.running = outside
        del self.conditions[held:]
        for name, value in before.items():
            self.scope.names[name] = self._leaving(value, self.scope.names.get(name), marks[name])
        self.loops_around -= 1

    def _run_once(self, node: ast.AST, body: list[ast.stmt], enter: Callable[[], object]) -> None:
        """Run a loop body with nothing known of the names it changes: twice would be 2**depth times."""
        held = len(self.conditions)
        outside = self.running
        for name in sorted(assigned_names(body)):
            if (value := self.scope.names.get(name)) is not None:
                mark = Atom("carried", self.site(node), name)
                self.running |= {mark}
                self.scope.names[name] = self.carried(value, mark)
        before = dict(self.scope.names)
        enter()
        self.run(body)
        self.running = outside
        del self.conditions[held:]
        self.scope.names = self.joined(before, self.scope.names, node)

    def carried(self, value: Value, mark: Atom) -> Value:
        """A stand-in for what a name holds at the start of some iteration."""
        if isinstance(value, Number):
            formula = value.formula if _is_mask(value) else None
            return replace(value, poly=Poly.of(mark), formula=formula, static=False)
        if isinstance(value, Sequence):
            return Sequence(value.items, exact=False)
        return value if not isinstance(value, NoneValue) else UNKNOWN_VALUE

    def _entry(self, before: Value, after: Value | None, mark: Atom, marks: set[Atom], trip: Atom) -> Value:
        """What a name holds at the start of iteration `trip`."""
        if isinstance(before, Number) and isinstance(after, Number):
            step = after.poly - Poly.of(mark)
            if step == ZERO:
                return before
            if not (step.closure & marks) and trip not in step.closure and not after.dtype.is_float:
                return replace(
                    before,
                    poly=before.poly + step * Poly.of(trip),
                    static=False,
                    formula=None,
                    deps=before.deps | after.deps,
                )
            start = Atom("start", before.poly)  # the mark alone would not tell where a pointer began
            return replace(
                before,
                poly=Poly.of(mark),
                formula=before.formula if after.formula is not None else None,
                static=False,
                deps=before.dependencies | after.dependencies | {start},
                loads=before.loads | after.loads,
            )
        return self.carried(before, mark) if after != before else before

    def _leaving(self, before: Value, after: Value | None, mark: Atom) -> Value:
        """What a name holds after the loop, which may not have run at all."""
        if after is None or after == before:
            return before
        if isinstance(before, Number) and isinstance(after, Number):
            final = Atom("left", mark)
            return replace(
                after,
                poly=Poly.of(final),
                formula=_one_of_masks(before.formula, after.formula),
                static=False,
                deps=before.dependencies | after.dependencies,
            )
        return self.join(before, after, mark)

    def _return(self, node: ast.Return) -> bool:
        self.exits.append(tuple(self.conditions))
        self.return_grounds |= {atom.kind for formula in self.conditions for atom in formula.closure}
        self.returned.append(self.evaluate(node.value) if node.value is not None else NONE)
        return False

    def _stop(self, node: ast.stmt) -> bool:
        return False

    def _raise(self, node: ast.Raise) -> bool:
        return False

    def _assert(self, node: ast.Assert) -> None:
        self.conditions.append(self.condition(node.test))

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, node)
        return self.run(node.body)

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        held = len(self.conditions)
        before = dict(self.scope.names)
        through = self.run(node.body) and self.run(node.orelse)
        names = self.scope.names
        for handler in node.handlers:
            self.scope.names = dict(before)
            kept = len(self.conditions)
            if self.run(handler.body):
                names = self.joined(names, self.scope.names, handler) if through else self.scope.names
                through = True
            del self.conditions[kept:]
        self.scope.names = names
        if node.handlers:
            del self.conditions[held:]
        return self.run(node.finalbody) and through

    def _match(self, node: ast.Match) -> bool:
        subject = self.evaluate(node.subject)
        before, ends = dict(self.scope.names), []
        for case in node.cases:
            self.scope.names = dict(before)
            held = len(self.conditions)
            for name in [
                p.name for p in walk(case.pattern) if isinstance(p, ast.MatchAs | ast.MatchStar) and p.name
            ]:
                self.scope.names[name] = Unknown(deps_of(subject))
            if self.run(case.body):
                ends.append(self.scope.names)
            del self.conditions[held:]
        names = before
        for end in ends:
            names = self.joined(names, end, node)
        self.scope.names = names
        return True

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.define(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.imported(node)

    # --- joins --------------------------------------------------------------------------------------
    def joined(self, one: dict[str, Value], two: dict[str, Value], node: ast.AST) -> dict[str, Value]:
        """The names after two ways of getting here."""
        names = dict(one)
        for name, value in two.items():
            other = names.get(name)
            if other is None:
                names[name] = value
            elif other is not value and other != value:
                names[name] = self.join(other, value, (*self.site(node), name))
        return names

    def result(self, site: tuple[object, ...]) -> Value:
        """What the function that ran returns: one of its `return`s."""
        if not self.returned:
            return NONE
        self.grounds = frozenset(self.return_grounds)
        value = self.returned[0]
        for i, other in enumerate(self.returned[1:]):
            value = self.join(value, other, (*site, i))
        self.grounds = frozenset()
        return value

    def join(self, one: Value, two: Value, site: object) -> Value:
        """A value that is one of two."""
        if one == two:
            return one
        if isinstance(one, Number) and isinstance(two, Number):
            return self._join_numbers(one, two, site)
        if isinstance(one, Sequence) and isinstance(two, Sequence) and len(one.items) == len(two.items):
            parts = (
                self.join(a, b, (site, i)) for i, (a, b) in enumerate(zip(one.items, two.items, strict=True))
            )
            return Sequence(tuple(parts), one.exact and two.exact)
        if isinstance(one, Tensor) and isinstance(two, Tensor):
            return self._join_tensors(one, two)
        for module, other in ((one, two), (two, one)):
            if isinstance(module, LazyImport) and module.module.startswith("triton"):
                return module  # else `None`, a mock, a stub: kernels need the real one
            if isinstance(module, LazyImport) and isinstance(other, NoneValue):
                return module
        options = (*_options(one), *(o for o in _options(two) if o not in _options(one)))
        if len(options) <= 6:
            grounds = [value.grounds for value in (one, two) if isinstance(value, Choice)]
            return Choice(options, self.grounds.union(*grounds))
        return Unknown(deps_of(one) | deps_of(two))

    def _join_numbers(self, one: Number, two: Number, site: object) -> Number:
        poly = one.poly
        if one.poly != two.poly:
            alternatives: set[Poly] = set()
            grounds: set[str] = set(self.grounds)
            for poly in (one.poly, two.poly):
                atom = poly.atom
                if atom is not None and atom.kind == "either":
                    alternatives |= atom.args[0]
                    grounds |= atom.args[2]
                else:
                    alternatives.add(poly)
            poly = Poly.of(Atom("either", frozenset(alternatives), site, frozenset(grounds)))
        formula = None
        if one.formula is not None and two.formula is not None:
            formula = one.formula if one.formula == two.formula else either(one.formula, two.formula)
            settled = self._decided(one.formula, two.formula)
            if settled is not None:
                formula = settled
            elif formula.kind == "true":
                formula = opaque(Poly.of(Atom("flag", one.dependencies | two.dependencies, site)))
        dtype = one.dtype
        if one.dtype != two.dtype:
            literal = one.dtype.literal and two.dtype.literal
            dtype = LITERAL_FLOAT if literal else UNKNOWN_DTYPE
            if one.dtype.name == two.dtype.name:
                dtype = one.dtype if two.dtype.literal else two.dtype
            elif self.grounds & _AT_RUN_TIME and one.dtype.is_known != two.dtype.is_known:
                dtype = one.dtype if one.dtype.is_known else two.dtype  # Triton asks for one type
            elif one.poly != two.poly:  # else one is the other converted, on purpose
                dtype = _narrower(one.dtype, two.dtype)
        shape = one.shape if one.shape == two.shape else None
        return Number(
            poly, dtype, shape, formula, one.static and two.static, one.deps | two.deps, one.loads | two.loads
        )

    def _decided(self, one: Formula, two: Formula) -> Formula | None:
        """A flag that is True or False on one way of an `if`: `needs = True; if c: needs = n > m`.

        Of two masks, that a parameter decides between, it is worth knowing which one holds when.
        """
        if self.deciding is None or (one.known is not None and two.known is not None):
            return None
        if one.known is None and two.known is None:
            if one == two or any(atom.kind != "param" for atom in self.deciding.closure):
                return None
            return both(either(self.deciding.negated(), one), either(self.deciding, two))
        if one.known is None:
            return either(self.deciding.negated(), one) if two.known else both(self.deciding, one)
        return either(self.deciding, two) if one.known else both(self.deciding.negated(), two)

    def _join_tensors(self, one: Tensor, two: Tensor) -> Tensor:
        dims = one.dims if one.dims == two.dims else None
        dtype = one.dtype if one.dtype == two.dtype else UNKNOWN_DTYPE
        if one.key == two.key:
            return replace(one, dims=dims or one.dims, dtype=dtype)
        origin = one.origin if one.origin == two.origin else "derived"
        key = (
            one.key
            if two.key.startswith(one.key + ".")
            else two.key
            if one.key.startswith(two.key + ".")
            else ""
        )
        return Tensor(
            key=key or _one_of(one.key, two.key),
            like=one.shape_key if one.shape_key == two.shape_key else "",
            dims=dims,
            dtype=dtype,
            origin=origin,
            contiguous=one.contiguous and two.contiguous,
            sure=one.sure or two.sure,
            node=one.node,
            made=_made(one) | _made(two),
        )

    # --- expressions --------------------------------------------------------------------------------
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.spent += 1
        if self.spent > BUDGET:
            self.out_of_budget()
            return UNKNOWN_VALUE
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            return UNKNOWN_VALUE
        if self.depth >= MAX_DEPTH:
            self.out_of_budget()
            return UNKNOWN_VALUE
        self.depth += 1
        try:
            value: Value = getattr(self, handler)(node)
        finally:
            self.depth -= 1
        return kept(value)

    def out_of_budget(self) -> None:
        """Called once the budget is spent."""

    def site(self, node: ast.AST | None) -> tuple[object, ...]:
        """What tells one place from another, calls included."""
        return (*self.path_key, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))

    def lookup(self, node: ast.Name) -> Value:
        """The value of a name."""
        value = self.scope.lookup(node.id)
        if isinstance(value, LazyImport):
            return self.scope.module.imported(value)
        return value if value is not None else self.missing(node)

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, bool):
            return Number(Poly.const(int(value)), BOOL, (), TRUE if value else FALSE, static=True)
        if isinstance(value, int):
            return integer(value)
        if isinstance(value, float):
            return real(value)
        if isinstance(value, str):
            return Text(value)
        return NONE if value is None else UNKNOWN_VALUE

    def _name(self, node: ast.Name) -> Value:
        return self.lookup(node)

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        items: list[Value] = []
        exact = True
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value)
                if isinstance(inner, Sequence):
                    items += inner.items
                    exact = exact and inner.exact
                else:
                    exact = False
            else:
                items.append(self.evaluate(element))
        return Sequence(tuple(items), exact)

    def _dict(self, node: ast.Dict) -> Value:
        items: list[tuple[str, Value]] = []
        exact = True
        for key, value in zip(node.keys, node.values, strict=True):
            result = self.evaluate(value)
            if key is None:
                if isinstance(result, Mapping):
                    items += result.items
                    exact = exact and result.exact
                else:
                    exact = False
                continue
            name = self.evaluate(key)
            if isinstance(name, Text):
                items.append((name.value, result))
            else:
                exact = False
        return Mapping(tuple(items), exact)

    def _binop(self, node: ast.BinOp) -> Value:
        return self.operate(node, node.op, self.evaluate(node.left), self.evaluate(node.right))

    def operate(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        """`left operator right`."""
        if isinstance(left, Number) and isinstance(right, Number):
            return binary(operator, left, right, Atom("data", self.site(node)))
        if isinstance(left, Sequence) and isinstance(right, Sequence) and isinstance(operator, ast.Add):
            return Sequence(left.items + right.items, left.exact and right.exact)
        if isinstance(left, Sequence) and isinstance(right, Number) and isinstance(operator, ast.Mult):
            count = right.poly.integer
            if left.exact and count is not None and 0 <= count * len(left.items) <= 64:
                return Sequence(left.items * count)
        if isinstance(left, Choice | Number) and isinstance(right, Choice | Number):
            return self._operate_choices(node, operator, left, right)
        deps = deps_of(left) | deps_of(right)
        return Unknown(deps)

    def _operate_choices(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        lefts = [o for o in _options(left) if isinstance(o, Number)]
        rights = [o for o in _options(right) if isinstance(o, Number)]
        if len(lefts) == 1 and len(rights) == 1:
            return self.operate(node, operator, lefts[0], rights[0])
        return Unknown(deps_of(left) | deps_of(right))

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            formula = self.truth_of(value).negated()
            shape = value.shape if isinstance(value, Number) else ()
            static = value.static if isinstance(value, Number) else isinstance(value, NoneValue | Text)
            return truth(formula, shape, static=static, deps=deps_of(value))
        if not isinstance(value, Number):
            return value if isinstance(node.op, ast.UAdd) else Unknown(deps_of(value))
        if isinstance(node.op, ast.USub):
            if value.dtype.is_float and not value.static:
                return replace(
                    value, poly=Poly.of(Atom("data", self.site(node))), deps=value.dependencies, formula=None
                )
            return replace(value, poly=-value.poly, formula=None)
        if isinstance(node.op, ast.Invert):
            if value.formula is not None:
                return truth(value.formula.negated(), value.shape, static=value.static, deps=value.deps)
            return replace(value, poly=-value.poly - Poly.const(1))
        return value

    def _boolop(self, node: ast.BoolOp) -> Value:
        values = [self.evaluate(item) for item in node.values]
        formulas = [self.truth_of(value) for value in values]
        formula = (both if isinstance(node.op, ast.And) else either)(*formulas)
        shapes = [value.shape for value in values if isinstance(value, Number) and value.shape]
        if (
            formula.known is None
            and isinstance(node.op, ast.Or)
            and not all(isinstance(v, Number) and v.formula is not None for v in values)
        ):
            return self._default_value(values, node, formula)
        static = all(v.static if isinstance(v, Number) else isinstance(v, NoneValue | Text) for v in values)
        deps: frozenset[Atom] = frozenset().union(*(deps_of(value) for value in values))
        return truth(formula, shapes[0] if shapes else (), static=static, deps=deps)

    def _default_value(self, values: list[Value], node: ast.BoolOp, formula: Formula) -> Value:
        """`a or b` where the operands are no conditions: one of them."""
        value = values[0]
        for other in values[1:]:
            value = self.join(value, other, self.site(node))
        return value

    def _compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        parts: list[Number] = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            parts.append(self.compared(node, operator, left, right))
            left = right
        result = parts[0]
        for part in parts[1:]:
            result = binary(ast.BitAnd(), result, part, Atom("data", self.site(node)))
        return result

    def compared(self, node: ast.Compare, operator: ast.cmpop, left: Value, right: Value) -> Number:
        """One comparison."""
        if (
            isinstance(left, Number)
            and isinstance(right, Number)
            and not isinstance(operator, ast.In | ast.NotIn)
        ):
            return comparison(operator, left, right)
        formula = self._identity(operator, left, right)
        if formula is None:
            deps = deps_of(left) | deps_of(right)
            formula = opaque(Poly.of(Atom("compared", deps, self.site(node))))
        return truth(formula, static=True, deps=deps_of(left) | deps_of(right))

    def _identity(self, operator: ast.cmpop, left: Value, right: Value) -> Formula | None:
        """`is None`, string and membership tests, where both sides are known."""
        if isinstance(operator, ast.In | ast.NotIn):
            return _membership(operator, left, right)
        if isinstance(left, Text) and isinstance(right, Text):
            same = left.value == right.value
        elif isinstance(left, NoneValue) and isinstance(right, NoneValue):
            same = True
        elif isinstance(right, NoneValue) and isinstance(left, Number | Text | Sequence):
            return self.none_test(operator, left)
        else:
            return None
        return TRUE if same == isinstance(operator, ast.Eq | ast.Is) else FALSE

    def none_test(self, operator: ast.cmpop, left: Value) -> Formula | None:
        """`left is None` for a left that is there."""
        return FALSE if isinstance(operator, ast.Eq | ast.Is) else TRUE

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.evaluate(node.body if condition.known else node.orelse)
        self.conditions.append(condition)
        one = self.evaluate(node.body)
        self.conditions[-1] = condition.negated()
        two = self.evaluate(node.orelse)
        self.conditions.pop()
        self.grounds = frozenset(atom.kind for atom in condition.closure)
        value = self.join(one, two, self.site(node))
        self.grounds = frozenset()
        return value

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(node, self.evaluate(node.value))

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.subscript(node, self.evaluate(node.value))

    def _call(self, node: ast.Call) -> Value:
        return self.call(node)

    def _lambda(self, node: ast.Lambda) -> Value:
        return LambdaValue(node, self.scope)

    def _named(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target, value, node)
        return value

    def _starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def _joined_str(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.evaluate(part.value)
        return UNKNOWN_VALUE

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        return UNKNOWN_VALUE


def _narrower(one: DType, two: DType) -> DType:
    """Of a type that a launch decides and a wide one, what a value is on one way at least."""
    for narrow, wide in ((one, two), (two, one)):
        if narrow.elements and wide.is_wide and not wide.literal:
            return narrow
    return UNKNOWN_DTYPE


def _is_mask(value: Value) -> bool:
    """Whether a value is a condition, and not a flag that starts as True or False."""
    return isinstance(value, Number) and value.formula is not None and value.formula.known is None


def _as_handed_on(before: Value, entry: Value, after: Value | None, trip: Atom) -> Value:
    """A mask at the start of an iteration: as before the loop, or as the last iteration made it."""
    if not (isinstance(before, Number) and isinstance(entry, Number) and entry.formula is not None):
        return entry
    if before.formula is None or entry == before or not isinstance(after, Number) or after.formula is None:
        return entry
    last = after.formula.map(lambda poly: poly.substitute({trip: Poly.of(trip) - ONE}))
    return replace(entry, formula=_one_of_masks(before.formula, last))


def _one_of_masks(one: Formula | None, two: Formula | None) -> Formula | None:
    """What a mask says that a loop hands on: what it said before, or what an iteration made of it."""
    if one is None or two is None or one.known is not None or two.known is not None:
        return None
    return one_of(one, two)


def _one_of(one: str, two: str) -> str:
    """The key of one of two tensors; a short one, for variables that change places again and again."""
    key = f"{one}|{two}"
    return key if len(key) <= MAX_KEY else f"{one[: MAX_KEY // 2]}|{crc32(key.encode()):08x}"


def written(node: ast.expr) -> str:
    """The text of an expression, its shape alone if it is nested too deep to be written out."""
    level: list[ast.AST] = [node]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in ast.iter_child_nodes(outer)]
        if not level:
            return ast.unparse(node)
    return f"{type(node).__name__}@{node.lineno}:{node.col_offset}"


def _plain_count(target: ast.expr) -> int | None:
    """The number of names a tuple target takes, None where a starred one takes any number."""
    if isinstance(target, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in target.elts):
        return len(target.elts)
    return None


def _options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def called_name(node: ast.Call) -> str:
    """The last name of what a call calls: `load` of `tl.load(...)`."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


_AT_RUN_TIME = frozenset(("load", "pid", "trip", "data"))
"""What a condition that is decided on the device depends on."""


def _pinned(names: dict[str, Value], changed: set[str], learned: list[Formula]) -> dict[str, Value]:
    """The names of a branch with what its checks fix put in: `assert dim == 512; n = dim // 128`."""
    fixed = fixed_by(learned)
    if not fixed:
        return names
    return names | {
        name: replace(value, poly=value.poly.substitute(fixed))
        for name, value in names.items()
        if name in changed and isinstance(value, Number) and not value.poly.closure.isdisjoint(fixed)
    }


def _picked(names: dict[str, Value], changed: set[str], condition: Formula) -> dict[str, Value]:
    """The names of a branch, where the windows that a parameter picked remember it."""
    if any(atom.kind != "param" for atom in condition.closure):
        return names
    windows = {name: value for name in changed if isinstance(value := names.get(name), BlockPointer)}
    return names | {name: replace(value, under=(*value.under, condition)) for name, value in windows.items()}


def _membership(operator: ast.cmpop, left: Value, right: Value) -> Formula | None:
    if not (isinstance(right, Sequence) and right.exact and right.items):
        return None
    cases = [_equality(left, item) for item in right.items]
    if any(case is None for case in cases):
        return None
    formula = either(*(case for case in cases if case is not None))
    return formula if isinstance(operator, ast.In) else formula.negated()


def _equality(left: Value, right: Value) -> Formula | None:
    """`left == right` for numbers and for tuples of them."""
    if isinstance(left, Number) and isinstance(right, Number):
        return equal(left.poly, right.poly)
    if not (isinstance(left, Sequence) and isinstance(right, Sequence) and left.exact and right.exact):
        return None
    if len(left.items) != len(right.items):
        return FALSE
    parts = [_equality(one, two) for one, two in zip(left.items, right.items, strict=True)]
    return both(*parts) if None not in parts else None  # type: ignore[arg-type]


def assigned_names(body: Iterable[ast.stmt]) -> set[str]:
    """Names that statements give a value to, nested blocks included."""
    nodes = (node for statement in body for node in walk(statement, _OWN_NAMES))
    return {node.id for node in nodes if node.__class__ is ast.Name and node.ctx.__class__ is ast.Store}


def _made(tensor: Tensor) -> frozenset[tuple[Poly, ...]]:
    if tensor.origin == "fresh" and tensor.dims is not None:
        return tensor.made | {tensor.dims}
    return tensor.made


_OWN_NAMES = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
"""What names stand for inside these is their own affair."""


def _added_to(name: str, value: ast.expr) -> list[ast.expr]:
    """What a sum adds to `name`, which is a term of it, scaled perhaps; empty where it is none."""
    terms: list[ast.expr] = []
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            rest += [node.right, node.left]
        else:
            terms.append(node)
    others = [term for term in terms if not _is_scaled(name, term)]
    return others if len(others) < len(terms) else []


def _is_scaled(name: str, term: ast.expr) -> bool:
    """Whether a term is `name`, or a product with it."""
    while isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult | ast.Div):
        if isinstance(term.op, ast.Mult) and isinstance(term.right, ast.Name) and term.right.id == name:
            return True
        term = term.left
    return isinstance(term, ast.Name) and term.id == name


def _has_break(node: ast.While) -> bool:
    return any(isinstance(inner, ast.Break) for statement in node.body for inner in walk(statement))


_CHEAP = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements that are run even without budget: what they define is used elsewhere."""
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.Expr: "_expr",
    ast.Assign: "_assign",
    ast.AnnAssign: "_ann_assign",
    ast.AugAssign: "_aug_assign",
    ast.If: "_if",
    ast.While: "_while",
    ast.For: "_for",
    ast.AsyncFor: "_for",
    ast.Return: "_return",
    ast.Raise: "_raise",
    ast.Break: "_stop",
    ast.Continue: "_stop",
    ast.Assert: "_assert",
    ast.With: "_with",
    ast.AsyncWith: "_with",
    ast.Try: "_try",
    ast.TryStar: "_try",
    ast.Match: "_match",
    ast.Delete: "_delete",
    ast.FunctionDef: "_define",
    ast.AsyncFunctionDef: "_define",
    ast.ClassDef: "_define",
    ast.Import: "_import",
    ast.ImportFrom: "_import",
}

_EXPRESSIONS: dict[type[ast.expr], str] = {
    ast.Constant: "_constant",
    ast.Name: "_name",
    ast.Tuple: "_tuple",
    ast.List: "_tuple",
    ast.Set: "_tuple",
    ast.Dict: "_dict",
    ast.BinOp: "_binop",
    ast.UnaryOp: "_unary",
    ast.BoolOp: "_boolop",
    ast.Compare: "_compare",
    ast.IfExp: "_ifexp",
    ast.Attribute: "_attribute",
    ast.Subscript: "_subscript",
    ast.Call: "_call",
    ast.Lambda: "_lambda",
    ast.NamedExpr: "_named",
    ast.Starred: "_starred",
    ast.JoinedStr: "_joined_str",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
}
