"""What callers give is checked by the types their call names, before anything is done with it.

Rule 1: every public call of both doors is checked: nothing of a wrong type reaches a store.
Rule 2: a check is named by the annotation it is for; one without is a mistake of ours, found by the
        test that walks both doors.
Rule 3: what is inside a message, a marker or a plan is checked where it is used, by
        core/log/validate.py.
Rule 4: a subclass of text or of a number, such as a member of a StrEnum, is handed on as the plain
        value: every store keeps that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from os import PathLike
from typing import Any, NamedTuple, TypeVar, cast

from holdfast.core.log.validate import plain_scalar
from holdfast.core.search.nearest import nearest
from holdfast.errors import InvalidRequest
from holdfast.model.log import SessionInfo
from holdfast.model.message import Media, Message, ToolCall
from holdfast.model.plan import Plan
from holdfast.model.policy import Policy
from holdfast.model.reply import Call
from holdfast.model.span import OPEN
from holdfast.model.spending import Caps
from holdfast.model.store import Finding
from holdfast.model.window import Options, Tool

T = TypeVar("T")
Check = Callable[[Any], bool]


class Kind(NamedTuple):
    """What an argument has to be, and how that is said."""

    words: str
    fits: Check


def _one(*types: type) -> Check:
    return lambda value: isinstance(value, types)


def _has(*names: str) -> Check:
    return lambda value: all(hasattr(value, name) for name in names)


def _each(fits: Check) -> Check:
    """Whether a value is a list of such; a text is none, though it is a sequence of letters."""

    def check(value: Any) -> bool:
        if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Sequence):
            return False
        return all(map(fits, cast("Sequence[Any]", value)))

    return check


def _none_or(fits: Check) -> Check:
    return lambda value: value is None or fits(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -OPEN <= value <= OPEN


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _name(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _is_source(value: Any) -> bool:
    """Whether it has text for a section of a window, or is a transcript that was found."""
    return _has("section", "text", "name")(value) or _has("importer", "root", "named")(value)


def _texts(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    told = cast("Mapping[Any, Any]", value)
    return all(isinstance(one, str) for pair in told.items() for one in pair)


TEXT = Kind("text", _one(str))
WHOLE = Kind("a whole number", _whole)
NUMBER = Kind("a number", _number)
PATH = Kind("a path", _one(str, PathLike))
ENTRY = Kind("an entry: its id, its number or a handle", _name)
TOOLS = Kind("a list of tools", _each(_one(Tool, Mapping)))
POLICY = Kind("a policy: its name, its file or a Policy", _one(str, Policy))

KINDS: Mapping[str, Kind | None] = {
    "Any": None,
    "Body": None,  # core/log/validate.py says more of it
    "Sequence[Body]": Kind("a list of messages and markers", _each(lambda _: True)),
    "str": TEXT,
    "str | None": Kind("text", _none_or(TEXT.fits)),
    "bool": Kind("True or False", _one(bool)),
    "int": WHOLE,
    "int | None": Kind("a whole number", _none_or(_whole)),
    "float": NUMBER,
    "float | None": Kind("a number", _none_or(_number)),
    "str | int": ENTRY,
    "str | PathLike[str]": PATH,
    "str | PathLike[str] | None": Kind("a path", _none_or(PATH.fits)),
    "str | Policy": POLICY,
    "Sequence[str]": Kind("a list of texts", _each(_one(str))),
    "Mapping[str, str]": Kind("a mapping of text to text", _texts),
    "dict[str, Any] | None": Kind("a dict", _none_or(_one(dict))),
    "SessionInfo": Kind("a SessionInfo", _one(SessionInfo)),
    "SessionInfo | None": Kind("a SessionInfo", _none_or(_one(SessionInfo))),
    "Media": Kind("a Media", _one(Media)),
    "ToolCall": Kind("a ToolCall", _one(ToolCall)),
    "Call | None": Kind("a Call", _none_or(_one(Call))),
    "Caps | None": Kind("a Caps", _none_or(_one(Caps))),
    "Plan": Kind("a Plan", _one(Plan)),
    "Sequence[Message]": Kind("a list of messages", _each(_one(Message))),
    "Sequence[Tool | Mapping[str, Any]]": TOOLS,
    "Sequence[Source]": Kind("a list of sources", _each(_is_source)),
    "Sequence[Finding]": Kind("a list of findings", _each(_one(Finding))),
    "Sequence[Hook]": Kind("a list of functions", _each(callable)),
    "Voice | None": Kind("a function", _none_or(callable)),
    "Reading | None": Kind("a function", _none_or(callable)),
    "OnDelta | None": Kind("a function", _none_or(callable)),
    "Callable[[Delta], None] | None": Kind("a function", _none_or(callable)),
    "Callable[[str], bool] | None": Kind("a function", _none_or(callable)),
    "Provider": Kind("a provider", _has("begin", "format", "name")),
    "Counter | None": Kind("a counter", _none_or(_has("count", "tier"))),
    "Telemetry | None": Kind("something with emit(event)", _none_or(_has("emit"))),
    "Options": Kind("options", _one(Options)),
    "OnConflict": TEXT,
    "OfBackups": TEXT,
    "By": TEXT,
    "Apart": TEXT,
}
"""What fits an annotation; None where anything does here."""


def check_argument(call: str, name: str, annotation: str, value: Any) -> None:
    """InvalidRequest where a value is not what the argument of a call has to be."""
    kind = KINDS.get(annotation)
    if kind is not None and not kind.fits(value):
        raise InvalidRequest(
            f"{call}: {name} is {kind.words}, not {type(value).__name__}; give it that"
        )


PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types that are what they are."""


def plainly(value: Any) -> Any:
    """Text and numbers of a subclass as plain ones, also inside a list or a mapping of them."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, (str, int, float)):
        return plain_scalar(value)
    if type(value) in (list, tuple):
        items = cast("Sequence[Any]", value)
        return type(value)(map(plain_scalar, items)) if any(map(_derived, items)) else value
    if type(value) is dict:
        told = cast("dict[Any, Any]", value)
        if any(_derived(one) for pair in told.items() for one in pair):
            return {plain_scalar(key): plain_scalar(one) for key, one in told.items()}
        return told
    return value


def _derived(value: object) -> bool:
    return type(value) not in PLAIN and plain_scalar(value) is not value


def checked(call: Callable[..., T]) -> Callable[..., T]:
    """The same function, with its arguments checked first; what has defaults may be left out."""
    known: list[Takes] = []  # looked into when it is first called: most never are

    @wraps(call)
    def checking(*values: Any, **named: Any) -> T:
        if not known:
            known.append(Takes(call))
        plain = [plainly(value) for value in values]
        plain_named = {name: plainly(value) for name, value in named.items()}
        known[0].check(plain, plain_named)
        return call(*plain, **plain_named)

    return checking


def checks_arguments(door: type[T]) -> type[T]:
    """A class whose public methods check what they are given."""
    for name, method in list(vars(door).items()):
        if callable(method) and not name.startswith("_") and not isinstance(method, type):
            setattr(door, name, checked(method))
    return door


class Takes:
    """What one function takes, by its own annotations."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.name = call.__name__
        self.positional: list[tuple[str, str]] = []
        self.named: dict[str, str] = {}
        self.more = ""
        """The annotation of what comes behind the others."""
        self.options = ""
        """The TypedDict of what else may be named."""
        for one in signature(call).parameters.values():
            self._add(one)
        self._fields: dict[str, str] | None = None

    def _add(self, one: Parameter) -> None:
        annotation = "Any" if one.annotation is Parameter.empty else str(one.annotation)
        if one.kind is Parameter.VAR_POSITIONAL:
            self.more = annotation
        elif one.kind is Parameter.VAR_KEYWORD:
            self.options = annotation.removeprefix("Unpack[").removesuffix("]")
        else:
            self.named[one.name] = annotation
            if one.kind is not Parameter.KEYWORD_ONLY:
                self.positional.append((one.name, annotation))

    def unchecked(self) -> set[str]:
        """The annotations that nothing here checks."""
        told = {*dict(self.positional).values(), *self.named.values(), self.more} - {""}
        options = fields_of(self.options) if self.options not in ("", "Any") else {}
        return {one for one in (*told, *options.values()) if one not in KINDS}

    def check(self, values: Sequence[Any], named: Mapping[str, Any]) -> None:
        """InvalidRequest where something given is not what it has to be."""
        for (name, annotation), value in zip(self.positional, values, strict=False):
            check_argument(self.name, name, annotation, value)
        for value in values[len(self.positional) :] if self.more else ():
            check_argument(self.name, "each", self.more, value)
        for name, value in named.items():
            if annotation := self.named.get(name):
                check_argument(self.name, name, annotation, value)
            elif self.options not in ("", "Any"):
                self._check_option(name, value)

    def _check_option(self, name: str, value: Any) -> None:
        if self._fields is None:
            self._fields = fields_of(self.options)
        if name not in self._fields:
            near = nearest(name, (*self.named, *self._fields))[:1]
            hint = f"did you mean {near[0]}?" if near else f"name one of {', '.join(self._fields)}"
            raise InvalidRequest(f"{self.name} takes no {name!r}; {hint}")
        check_argument(self.name, name, self._fields[name], value)


def fields_of(options: str) -> dict[str, str]:
    """The fields of a TypedDict that calls take by name, each with its annotation."""
    from holdfast.engine.window.sections import Asking
    from holdfast.model.search import Where

    described: Any = {"Asking": Asking, "Where": Where}[options]
    told: dict[str, Any] = described.__annotations__
    return {name: getattr(one, "__forward_arg__", str(one)) for name, one in told.items()}
