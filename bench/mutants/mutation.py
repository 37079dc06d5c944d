"""Small changes to decisions, on Python's syntax trees.

Comparisons are turned, bounds moved by one, conditions negated, operands and statements dropped, `min` and `max` exchanged. Not
touched: annotations, what is raised, what only tells of a run, tables of variants.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_LEFT_OUT = (
    "variant/",
    "switches.py",
    "settings.py",
    "describe.py",
    "cluster.py",
    "messages.py",
    "events.py",
    "family.py",
)
"""Tables, and the reading of them."""
_TELLS = {"trace", "_trace"}
_TURNED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


class Mutant(NamedTuple):
    """One change.

    `file`: from the top of the repository. `number`: which of the file's changes. `place`: the function it is in.
    `before`, `after`: the changed statement's or expression's source. `nth`: of the changes of this function that read the same.
    """

    file: str
    number: int
    place: str
    line: int
    operator: str
    before: str
    after: str
    nth: int = 1

    @property
    def name(self) -> str:
        """As it is asked for."""
        return f"{self.file}#{self.number}"

    @property
    def key(self) -> str:
        """Stays the same when lines move."""
        again = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.file} {self.place}: {self.before} -> {self.after}{again}"


class _Site(NamedTuple):
    operator: str
    node: ast.AST
    changed: ast.AST
    place: str
    put: Callable[[ast.AST], None]


def files() -> list[str]:
    """All whose decisions are changed, from the top of the repository."""
    found = sorted([*(ROOT / "nodes" / "core").rglob("*.py"), *(ROOT / "nodes" / "families").rglob("*.py")])
    names = [str(path.relative_to(ROOT)) for path in found]
    return [name for name in names if not any(part in name for part in _LEFT_OUT)]


def mutants_of(file: str) -> list[Mutant]:
    """Every change of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    alike = Counter[tuple[str, str, str]]()
    found = []
    for number, site in enumerate(_sites(tree)):
        reads = site.place, ast.unparse(site.node), ast.unparse(site.changed)
        alike[reads] += 1
        line = getattr(site.node, "lineno", 0)
        found.append(Mutant(file, number, site.place, line, site.operator, *reads[1:], alike[reads]))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """A file's syntax tree with one of its changes made."""
    tree = ast.parse(source)
    for at, site in enumerate(_sites(tree)):
        if at == number:
            site.put(ast.copy_location(site.changed, site.node))
            return ast.fix_missing_locations(tree)
    raise IndexError(f"there is no change {number}")


def _sites(tree: ast.Module) -> list[_Site]:
    return list(_walk(tree, ()))


def _walk(node: ast.AST, places: tuple[str, ...]) -> Iterator[_Site]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        if node.name in ("__repr__", "__str__"):
            return
        places = (*places, node.name)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(node, ast.Call):
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_told(child):
                continue

            def put(new: ast.AST, field: str = field, value: object = value, index: int = index) -> None:
                if isinstance(value, list):
                    value[index] = new
                else:
                    setattr(node, field, new)

            if places:
                for operator, changed in _changes(child, node, field):
                    yield _Site(operator, child, changed, ".".join(places), put)
            yield from _walk(child, places)


def _is_told(node: ast.AST) -> bool:
    """What is raised, asserted, only for types, or says what happened."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.AnnAssign)) and not getattr(node, "value", None):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Constant):
            return True
        call = node.value
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _TELLS
    return False


def _changes(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[str, ast.AST]]:
    """What may be put in a node's place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for turned in _TURNED.get(type(node.ops[0]), ()):
            new = deepcopy(node)
            new.ops = [turned()]
            yield "comparison turned", new
    if isinstance(node, ast.Constant) and type(node.value) is int and _is_a_bound(parent):
        for by in (1, -1):
            yield "bound moved", ast.Constant(node.value + by)
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub):
        new = deepcopy(node)
        new.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "bound moved", new
    if isinstance(node, ast.BoolOp):
        new = deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and and or exchanged", new
        for place in range(len(node.values)):
            rest = [deepcopy(one) for at, one in enumerate(node.values) if at != place]
            yield "operand dropped", rest[0] if len(rest) == 1 else ast.BoolOp(deepcopy(node.op), rest)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "condition negated", deepcopy(node.operand)
    elif field == "test" and isinstance(parent, (ast.If, ast.While, ast.IfExp)) and isinstance(node, ast.expr):
        yield "condition negated", ast.UnaryOp(ast.Not(), deepcopy(node))
    if field == "ifs" and isinstance(parent, ast.comprehension):
        yield "filter dropped", ast.Constant(value=True)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        new = deepcopy(node)
        new.func = ast.Name("max" if node.func.id == "min" else "min", ast.Load())
        yield "min and max exchanged", new
    if _is_a_step(node):
        yield "statement dropped", ast.Pass()


def _is_a_bound(parent: ast.AST) -> bool:
    return isinstance(parent, (ast.Compare, ast.Slice, ast.Subscript)) or (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub))
    )


def _is_a_step(node: ast.AST) -> bool:
    """A statement without which the rest can go on."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return isinstance(node, (ast.AugAssign, ast.Delete, ast.Continue, ast.Break)) or (
        isinstance(node, ast.Return) and node.value is None
    )
