"""Small mistakes that an engineer could make, as replacements in the source of one module.

Each operator looks at one node and proposes other texts for a piece of it. The rest of the file
stays as it is, so that a mutant is shown as the difference it makes. Left alone are annotations,
decorators, docstrings, `__repr__`, protocols, what a `raise` says, and strings with blanks in them
unless they are SQL: words for people are judged by people.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.mutants.reach import headline

Pieces = Iterator[tuple[ast.AST | tuple[ast.AST, ast.AST], str]]
"""What is replaced, one node or the run from one node to another, and by what."""


@dataclass(frozen=True)
class Mutant:
    path: str
    function: str
    """Dotted, within the module; empty at its top."""
    within: bool
    """Whether that is a function, and no class."""
    statement: str
    line: int
    operator: str
    was: str
    becomes: str
    nth: int
    """How often the same change came before in the same function."""
    span: tuple[int, int]

    @property
    def key(self) -> str:
        """Names the mutant wherever in the file its function moves."""
        parts = (self.path, self.function, self.operator, self.was, self.becomes, str(self.nth))
        return "|".join(parts)

    @property
    def inside(self) -> bool:
        """Whether it is in the body of a function, rather than run when its module is imported."""
        top = ("def ", "async def ", "class ")
        return bool(self.function) and self.within and not self.statement.startswith(top)

    def apply(self, source: bytes) -> bytes:
        start, end = self.span
        return source[:start] + self.becomes.encode() + source[end:]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Every mutant of a module, in order of place; not each of them need be a program."""
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    starts = _line_starts(source)
    lines = source.decode().split("\n")
    for node, function, within, statement in _judged(ast.parse(source), "", False, None):
        for operator in OPERATORS:
            for what, becomes in operator(node):
                first, last = what if isinstance(what, tuple) else (what, what)
                span = _start(first, starts), _end(last, starts)
                was = source[slice(*span)].decode()
                made = Mutant(
                    path, function, within, headline(statement, lines), getattr(first, "lineno", 0),
                    operator.__name__.removeprefix("_"), was, becomes, 0, span,
                )  # fmt: skip
                nth = seen[made.key] = seen.get(made.key, -1) + 1
                found.append(replace(made, nth=nth))
    return found


def differs(made: Mutant, source: bytes) -> bool:
    """Whether the mutant is a program, and another one than the source."""
    try:
        return ast.dump(ast.parse(made.apply(source))) != ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return False


# Walking.

UNTESTED = {"cast", "TypeVar", "NewType", "failpoint", "token_hex"}
"""Calls that do nothing, or whose argument any other would do for."""
UNJUDGED = {"__repr__", "__str__", "__rich__"}


def _judged(
    node: ast.AST, function: str, within: bool, statement: ast.stmt | None
) -> Iterator[tuple[ast.AST, str, bool, ast.stmt]]:
    """Every node that may be mutated, with its function and its statement."""
    for child in _children(node):
        own = child if isinstance(child, ast.stmt) else statement
        if own is None or _left_alone(child):
            continue
        name, inside = function, within
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{function}.{child.name}".lstrip(".")
            inside = not isinstance(child, ast.ClassDef)
        yield child, name, inside, own
        yield from _judged(child, name, inside, own)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    skipped = {"annotation", "returns", "decorator_list", "type_params", "bases", "exc", "cause"}
    if isinstance(node, ast.JoinedStr):
        return  # places inside are not to be relied on before Python 3.12
    for name, value in ast.iter_fields(node):
        if name in skipped or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _left_alone(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name in UNJUDGED
        case ast.ClassDef(bases=bases):
            return any(ast.unparse(base).startswith("Protocol") for base in bases)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert() | ast.Import():
            return True
        case ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in UNTESTED:
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="failpoint"))) | ast.keyword(arg="strict"):
            return True
    return False


# Operators. Each is known by its name in results and in the list of equivalents.

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "//",
    ast.BitOr: "&", ast.BitAnd: "|",
}  # fmt: skip
OTHER = {"min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith",
         "endswith": "startswith", "rsplit": "split", "rpartition": "partition", "rfind": "find",
         "lstrip": "rstrip", "rstrip": "lstrip"}  # fmt: skip


def _comparison(node: ast.AST) -> Pieces:
    """`<` for `<=`, `!=` for `==`, `not in` for `in`."""
    if isinstance(node, ast.Compare):
        for nth, operator in enumerate(node.ops):
            words = [ast.unparse(side) for side in (node.left, *node.comparators)]
            signs = [_sign(other) for other in node.ops]
            signs[nth] = COMPARISONS[type(operator)]
            rest = " ".join(f"{sign} {word}" for sign, word in zip(signs, words[1:], strict=True))
            yield node, f"({words[0]} {rest})"


def _sign(operator: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("x"), [operator], [ast.Name("x")]))[2:-2]


def _boolean(node: ast.AST) -> Pieces:
    """`or` for `and`, and the other way."""
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, _text(ast.BoolOp(other, node.values))


def _operand(node: ast.AST) -> Pieces:
    """One side of an `and`, an `or` or a union is forgotten."""
    if isinstance(node, ast.BoolOp):
        for nth in range(len(node.values)):
            rest = node.values[:nth] + node.values[nth + 1 :]
            yield node, _text(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield node, _text(node.left)
        yield node, _text(node.right)


def _condition(node: ast.AST) -> Pieces:
    """A condition is turned around, or left out."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            yield node.test, _text(ast.UnaryOp(ast.Not(), node.test))
        if isinstance(node, ast.If):
            yield node.test, "False"
            yield node.test, "True"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, _text(node.operand)


def _filter(node: ast.AST) -> Pieces:
    """A comprehension takes what it should leave."""
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield test, "True"


def _number(node: ast.AST) -> Pieces:
    """A number is one off, or a hundred times too large."""
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() | float() as number):
            yield node, repr(number + 1)
            if isinstance(number, float) or number > 1:
                yield node, repr(number * 100)
            if number != 0:
                yield node, repr(number - 1)


def _truth(node: ast.AST) -> Pieces:
    """`True` for `False`, and the other way."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, repr(not node.value)


def _arithmetic(node: ast.AST) -> Pieces:
    """`-` for `+`, `*` for `//`; not where it would be a mistake of type at once."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        literals = ast.List | ast.Tuple | ast.JoinedStr | ast.Dict | ast.Set | ast.ListComp
        for side in (node.left, node.right):
            text = isinstance(side, ast.Constant) and not isinstance(side.value, int | float)
            if text or isinstance(side, literals):
                return
        sign = SIGNS[type(node.op)]
        yield node, f"({_text(node.left)} {sign} {_text(node.right)})"


def _slice(node: ast.AST) -> Pieces:
    """A slice begins or ends one off, or has no end."""
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None:
                yield bound, f"{_text(bound)} + 1"
                yield bound, ""
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) in ("0", "-1"):
        if isinstance(node.value, ast.Subscript):
            return  # the one column of a row, the one group of a match
        yield node.slice, "-1" if ast.unparse(node.slice) == "0" else "0"


def _other(node: ast.AST) -> Pieces:
    """`max` for `min`, `all` for `any`, `endswith` for `startswith`."""
    match node:
        case ast.Call(func=ast.Name(id=name) as function) if name in OTHER:
            yield function, OTHER[name]
        case ast.Call(func=ast.Attribute(value=value, attr=name) as function) if name in OTHER:
            yield function, f"{_text(value)}.{OTHER[name]}"


def _argument(node: ast.AST) -> Pieces:
    """An argument given by name is forgotten."""
    if isinstance(node, ast.Call):
        for nth, keyword in enumerate(node.keywords):
            if keyword.arg not in (None, "strict", "encoding"):  # it is what the system has
                rest = node.keywords[:nth] + node.keywords[nth + 1 :]
                yield node, ast.unparse(ast.Call(node.func, node.args, rest))


def _element(node: ast.AST) -> Pieces:
    """One of several constants, or one key of a dictionary, is forgotten."""
    match node:
        case ast.Set(elts=found) | ast.List(elts=found) | ast.Tuple(elts=found):
            constants = all(isinstance(one, ast.Constant) and not _prose(one) for one in found)
            for nth in range(len(found)) if constants and len(found) > 1 else ():
                yield node, ast.unparse(type(node)(found[:nth] + found[nth + 1 :]))
        case ast.Dict(keys=keys, values=values):
            for nth in range(len(keys)) if len(keys) > 1 else ():
                rest = keys[:nth] + keys[nth + 1 :], values[:nth] + values[nth + 1 :]
                yield node, ast.unparse(ast.Dict(*rest))


def _prose(node: ast.Constant) -> bool:
    """Whether it is a sentence for people."""
    return isinstance(node.value, str) and bool(re.search(r"\s", node.value))


def _word(node: ast.AST) -> Pieces:
    """A string that is compared, looked up or matched is spelt wrong."""
    for word in _looked_up(node):
        match word:
            case ast.Constant(value=str() as text) if text and not re.search(r"\s", text):
                yield word, repr(text + "_")


def _looked_up(node: ast.AST) -> Sequence[ast.AST | None]:
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Dict(keys=keys):
            return keys
        case ast.Subscript(slice=key) | ast.MatchValue(value=key):
            return [key]
        case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[key, *_]):
            return [key]
        case ast.Set(elts=words) | ast.Tuple(elts=words):
            return words
    return []


def _statement(node: ast.AST) -> Pieces:
    """A call, an exception, a break or a change of something else's value is left out."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            yield node, "pass"
        case ast.Raise() | ast.Break() | ast.Continue() | ast.AugAssign() | ast.Delete():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"


def _result(node: ast.AST) -> Pieces:
    """A function returns nothing, or always the same truth."""
    if isinstance(node, ast.Return) and node.value is not None:
        kind = type(node.value)
        if kind is ast.Constant:
            return
        if kind in (ast.Compare, ast.BoolOp) or ast.unparse(node.value).startswith("not "):
            yield node.value, "True"
            yield node.value, "False"
        else:
            yield node.value, "None"


def _order(node: ast.AST) -> Pieces:
    """Two statements that act, or two guards, stand the other way round."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        for one, two in itertools.pairwise(block):
            if _acts(one, two) or (_guards(one) and _guards(two)):
                gap = " " * one.col_offset
                yield (one, two), _indented(two, gap) + "\n" + gap + _indented(one, gap)


def _acts(one: ast.AST, two: ast.AST) -> bool:
    """Both change something, and not both only set an attribute or say where a test may fail."""
    calls = [isinstance(node, ast.Expr) and not _left_alone(node) for node in (one, two)]
    sets = [
        isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Attribute) for n in (one, two)
    ]
    return (all(calls) or (any(calls) and any(sets))) and not _apart(one, two)


FILLING = {"append", "add", "extend", "update", "clear", "discard", "appendleft"}


def _apart(one: ast.AST, two: ast.AST) -> bool:
    """Both only fill something, each another thing: no order of them can be told."""
    filled = [
        ast.unparse(node.value.func.value)
        for node in (one, two)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in FILLING
        and "(" not in "".join(map(ast.unparse, node.value.args))
    ]
    read = [{ast.unparse(inner) for inner in ast.walk(node)} for node in (one, two)]
    return len(filled) == 2 and filled[0] not in read[1] and filled[1] not in read[0]


def _guards(node: ast.AST) -> bool:
    ends = ast.Return | ast.Raise | ast.Continue | ast.Break
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ends)


def _indented(node: ast.AST, gap: str) -> str:
    return ast.unparse(node).replace("\n", "\n" + gap)


def _early(node: ast.AST) -> Pieces:
    """A function that returns nothing ends before its last statement."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    acting = [one for one in node.body if not _left_alone(one)]
    if len(acting) > 1 and isinstance(node.returns, ast.Constant) and node.returns.value is None:
        yield acting[-1], "return"


def _sql(node: ast.AST) -> Pieces:
    """A query compares, joins or orders otherwise."""
    match node:
        case ast.Constant(value=str() as text) if SQL.search(text):
            for pattern, becomes in QUERIES:
                if re.search(pattern, text):
                    yield node, repr(re.sub(pattern, becomes, text, count=1))


SQL = re.compile(r"\b(SELECT|UPDATE|DELETE|INSERT|WHERE|ORDER BY|LIMIT|AND)\b")
QUERIES = (
    (r" <= ", " < "), (r" < ", " <= "), (r" >= ", " > "), (r" > ", " >= "), (r" = ", " != "),
    (r" AND ", " OR "), (r" OR ", " AND "), (r"IS NULL", "IS NOT NULL"),
    (r"IS NOT NULL", "IS NULL"), (r"NOT EXISTS", "EXISTS"), (r"NOT IN", "IN"), (r" DESC\b", ""),
    (r"ORDER BY (\w+(\.\w+)?)", r"ORDER BY \1 DESC"), (r"DISTINCT ", ""), (r" LIMIT \d+", ""),
    (r"\bMAX\(", "MIN("), (r"\bmax\(", "min("), (r"OR IGNORE ", ""),
    (r"ON CONFLICT DO NOTHING", ""),
)  # fmt: skip

OPERATORS: tuple[Callable[[ast.AST], Pieces], ...] = (
    _comparison, _boolean, _operand, _condition, _filter, _number, _truth, _arithmetic, _slice,
    _other, _argument, _element, _word, _statement, _result, _order, _early, _sql,
)  # fmt: skip


# Places in the text.


def _text(node: ast.AST) -> str:
    """An expression as one operand."""
    words = ast.unparse(node)
    atom = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript
    return words if isinstance(node, atom) else f"({words})"


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _start(node: ast.AST, starts: list[int]) -> int:
    return starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST, starts: list[int]) -> int:
    return starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
