"""Whatever is given of a wrong type is refused in words, before anything is written."""

import asyncio
import enum
import inspect
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import GeneratorType
from typing import Any

import pytest

import holdfast
from holdfast.engine.arguments import KINDS, Takes, fields_of
from holdfast.engine.blocking import Session
from holdfast.engine.client import AsyncHoldfast, Holdfast
from holdfast.engine.session import AsyncSession
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import HoldfastError, InvalidRequest, NotFound
from holdfast.model.log import Summary
from holdfast.model.message import Media, Message, Text, ToolCall, ToolResult, assistant
from holdfast.model.reply import Call, Reply
from holdfast.model.span import OPEN, Span
from holdfast.model.window import Tool

MODEL = "claude-sonnet-4-6"


class Odd:
    """No type that anybody takes."""


WRONG: list[Any] = [
    42, -1, 2**70, 1.5, float("nan"), True, None, b"bytes", "text", [], ["x"], [42], {}, {"a": 1},
    (), object(), Odd(), Odd, uuid.UUID(int=7), Path("somewhere"), print,
]  # fmt: skip

DOORS = (Holdfast, AsyncHoldfast, Session, AsyncSession, PreparedWindow)
LEAVES = {"close", "settle", "backup", "erase", "repair", "export", "handoff", "import_from"}
"""What ends a door, or acts beyond the store: asked only for what it needs."""


def methods(door: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, method in inspect.getmembers(door, inspect.isfunction):
        if not name.startswith("_"):
            yield name, method


def test_every_annotation_of_both_doors_has_a_check() -> None:
    for door in DOORS:
        for name, method in methods(door):
            assert hasattr(method, "__wrapped__"), f"{door.__name__}.{name} checks nothing"
            assert Takes(inspect.unwrap(method)).unchecked() == set()


def test_an_annotation_without_a_check_is_noticed() -> None:
    def new(what: Any) -> None: ...

    new.__annotations__["what"] = "frozenset[Odd]"
    assert Takes(new).unchecked() == {"frozenset[Odd]"}


BASE: dict[str, dict[str, Any]] = {
    "user": {"text": "hi"},
    "tool_result": {"call_id": "c", "output": "x"},
    "append": {"body": holdfast.user("hi")},
    "append_all": {"bodies": [holdfast.user("hi")]},
    "reply": {"response": Reply(message=assistant("x"), stop="end")},
    "refused": {"message": "no"},
    "costs": {"by": "model"},
    "search": {"words": "x"},
    "search_history": {"query": "x"},
    "rewind": {"to": 1},
    "entry": {"id": 1},
    "seq": {"entry": 1},
    "why_absent": {"entry": 1},
    "recall": {"handle": "#1"},
    "rename": {"title": "x"},
    "set_model": {"name": MODEL},
    "set_policy": {"name": "holdfast"},
    "unpin": {"pin": "#1"},
    "resolve": {"id": "home"},
    "subtask": {"title": "x"},
    "child": {"id": "home"},
    "answer": {"call": ToolCall("c", "recall", "{}")},
    "counter": {"vocabulary": "o200k"},
    "request": {"format": "anthropic"},
    "export": {"id": "home"},
    "handoff": {"id": "home", "to": "markdown"},
    "erase": {"id": "nobody"},
}
NEEDS = {"send", "keep_warm", "apply", "opening", "forks", "import_sources", "repair", "hash"}
"""What takes only what a program made before: asked without anything right beside the wrong."""


def cases(door: type) -> Iterator[tuple[str, str, Any]]:
    """Every parameter of every public method with every wrong value."""
    for name, method in methods(door):
        takes = Takes(inspect.unwrap(method))
        options = fields_of(takes.options) if takes.options not in ("", "Any") else {}
        for parameter in (*takes.named, *options):
            if parameter == "self" or (name in LEAVES and parameter not in BASE.get(name, {})):
                continue
            for value in WRONG:
                yield name, parameter, value


def ask(method: Callable[..., Any], name: str, parameter: str, value: Any) -> Any:
    given = {**BASE.get(name, {}), parameter: value}
    try:
        return method(**given)
    except TypeError:
        if name in NEEDS:  # Python's own: another argument is missing
            return None
        raise


def fits(door: type, name: str, parameter: str, value: Any) -> bool:
    """Whether the check lets it pass: then the call may do what it is for."""
    takes = Takes(inspect.unwrap(getattr(door, name)))
    fields = fields_of(takes.options) if takes.options not in ("", "Any") else {}
    kind = KINDS.get({**fields, **takes.named}[parameter])
    return kind is not None and kind.fits(value)


def unfit(door: type) -> Iterator[tuple[str, str, Any]]:
    """What the checks do not let pass, or leave to what they are for."""
    for name, parameter, value in cases(door):
        if name not in ("close", "settle") and not fits(door, name, parameter, value):
            yield name, parameter, value


def ended(found: Any) -> Any:
    return list(found) if isinstance(found, GeneratorType) else found


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
def test_the_blocking_door_refuses_in_words_and_writes_nothing(store: str, tmp_path: Path) -> None:
    url = store if store == "memory:" else str(tmp_path / "log.db")
    with holdfast.open(url) as hf:
        s = hf.session("home", create=True, model=MODEL)
        s.user("hello")
        window = s.window()
        for target in (hf, s, window):
            for name, parameter, value in unfit(type(target)):
                before = [one.head for one in hf.sessions()], s.refresh()
                try:
                    ended(ask(getattr(target, name), name, parameter, value))
                except HoldfastError:
                    written = [one.head for one in hf.sessions()], s.refresh()
                    assert written == before, (name, parameter, value)
                except Exception as error:
                    pytest.fail(f"{name}({parameter}={value!r}): {error!r}")
        assert next(s.entries()).body.text == "hello"  # type: ignore[union-attr]
        s.window().request("anthropic")


def test_the_async_door_refuses_alike(tmp_path: Path) -> None:
    async def done(found: Any) -> None:
        if inspect.isawaitable(found):
            await found
        elif hasattr(found, "__aiter__"):
            [one async for one in found]

    async def all_of_it() -> None:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session("home", create=True, model=MODEL)
            await s.user("hello")
            for target in (hf, s):
                for name, parameter, value in unfit(type(target)):
                    with suppress(HoldfastError):
                        await done(ask(getattr(target, name), name, parameter, value))
            assert (await s.entry(1)).body.text == "hello"  # type: ignore[union-attr]

    asyncio.run(all_of_it())


BODIES: list[Any] = [
    Message("user", (Media("image/png", "aGVsbG8="),)),  # type: ignore[arg-type]
    Message("tool", (ToolResult("c", b"out"),)),  # type: ignore[arg-type]
    Message("tool", (ToolResult("c", "x", 1),)),  # type: ignore[arg-type]
    Message("tool", (ToolResult("c", "x", exit="1"),)),  # type: ignore[arg-type]
    Message("tool", (ToolResult(uuid.UUID(int=7), "x"),)),  # type: ignore[arg-type]
    Message("user", (Text(uuid.UUID(int=7)),)),  # type: ignore[arg-type]
    Message("user", (Text(42),)),  # type: ignore[arg-type]
    Message("user", "text"),  # type: ignore[arg-type]
    Message("user", (42,)),  # type: ignore[arg-type]
    Message("nobody", (Text("x"),)),  # type: ignore[arg-type]
    assistant(ToolCall("c", "look", {"n": 1})),  # type: ignore[arg-type]
    Summary(covers=(Span(1, 1),), text=b"x"),  # type: ignore[arg-type]
    Summary(covers=(Span(1, 1),), text="x", model=uuid.UUID(int=7)),  # type: ignore[arg-type]
    Summary(covers=((1, 1),), text="x", facts="aGVsbG8="),  # type: ignore[arg-type]
    "text", 42, None, {"role": "user"}, ["x"], b"x",
]  # fmt: skip


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_what_is_inside_a_message_or_marker_is_looked_at(
    store: str, body: Any, tmp_path: Path
) -> None:
    url = store if store == "memory:" else str(tmp_path / "log.db")
    with holdfast.open(url) as hf:
        s = hf.session()
        s.user("hello")
        for write in (s.append, lambda one: s.append_all([one])):
            with pytest.raises(InvalidRequest):
                write(body)
        assert [e.body.text for e in s.entries()] == ["hello"]  # type: ignore[union-attr]
        assert s.info.head == s.refresh().head == 1


def test_a_call_and_a_plan_are_looked_into(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        s.user("hello")
        call: Any = Call(id="c", session=s.id, cause="turn", started="now")  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest):
            s.append(assistant("x"), call=call)
        for turn in range(12):
            s.user(f"Question {turn} about src/part_{turn}.py, please.")
            s.append(assistant(f"Answer {turn}: " + f"the part number {turn} is fine. " * 60))
        plan = s.plan(model=MODEL)
        plan.summary = b"bytes"  # type: ignore[assignment]
        head = s.info.head
        with pytest.raises(InvalidRequest):
            s.apply(plan)
        assert s.refresh().head == head


def test_a_list_of_parts_is_kept_as_any_other(tmp_path: Path) -> None:
    for url in ("memory:", str(tmp_path / "log.db")):
        with holdfast.open(url) as hf:
            s = hf.session()
            made = s.append(Message("user", [Text("one"), Text("two")]))  # type: ignore[arg-type]
            assert made.body == Message("user", (Text("one"), Text("two"))) == s.entry(1).body


def test_opening_checks_too(tmp_path: Path) -> None:
    for wrong in (42, b"x", ["x"]):
        with pytest.raises(InvalidRequest):
            holdfast.open(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest):
            holdfast.open_async(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest):
        holdfast.open(tmp_path / "log.db", caps={"session": 1})  # type: ignore[arg-type]


def test_a_name_nobody_knows_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        s.user("x")
        with pytest.raises(InvalidRequest, match="did you mean model"):
            s.window(modle=MODEL)  # type: ignore[call-arg]


class Model(enum.StrEnum):
    OWN = MODEL


class Words(str):
    __slots__ = ()


@pytest.mark.parametrize("store", ["memory:", "log.db"])
def test_text_and_numbers_of_a_subclass_are_kept_as_plain_ones(store: str, tmp_path: Path) -> None:
    url = store if store == "memory:" else str(tmp_path / store)
    with holdfast.open(url) as hf:
        s = hf.session(Words("home"), create=True, model=Model.OWN, title=Words("a title"))
        s.user(Words("hello"), key=Words("once"))
        s.append(Message(Words("user"), (Text(Words("more")),)), key=Model.OWN)  # type: ignore[arg-type]
        s.rename(Words("another"))
        s.window(system=Words("You help."), model=Model.OWN, context={Words("cwd"): Words("/")})
        assert (s.info.id, s.info.model, s.info.title) == ("home", MODEL, "another")
        kept = [e.body for e in s.entries() if isinstance(e.body, Message)]
        assert [one.text for one in kept[:2]] == ["hello", "more"]
        assert all(type(one.text) is str for one in kept)
        again = hf.session("home")
        assert type(again.info.model) is type(again.info.title) is str
        assert hf.export("home").data


HALF = "\ud800"


@pytest.mark.parametrize("store", ["memory:", "log.db"])
def test_an_id_of_half_a_surrogate_pair_names_nothing(store: str, tmp_path: Path) -> None:
    url = store if store == "memory:" else str(tmp_path / store)
    with holdfast.open(url) as hf:
        s = hf.session("home", create=True, model=MODEL)
        s.user("hello")
        lookups: list[Callable[[], object]] = [
            lambda: hf.session(HALF), lambda: hf.resolve(HALF), lambda: hf.export(HALF),
            lambda: hf.erase(HALF), lambda: s.entry(HALF), lambda: s.rewind(HALF),
            lambda: s.pin(HALF), lambda: s.recall(HALF), lambda: s.child(HALF),
        ]  # fmt: skip
        for look in lookups:
            with pytest.raises((NotFound, InvalidRequest)):
                look()
        assert s.user(HALF).body.text == s.entry(2).body.text == HALF  # type: ignore[union-attr]
        assert hf.search("hello", offset=OPEN, limit=7) == ()


TOOLS: list[Any] = [
    Tool(name=42),  # type: ignore[arg-type]
    Tool(name="look", description=7),  # type: ignore[arg-type]
    Tool(name="look", schema=[]),  # type: ignore[arg-type]
    Tool(name="look", schema={"a": object()}),
    {"name": "look", "input_schema": 5},
    {"description": "a tool without a name"},
    {},
]


@pytest.mark.parametrize("tool", TOOLS, ids=range(len(TOOLS)))
def test_a_tool_that_cannot_be_sent_is_refused_before_anything_is_written(tool: Any) -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model=MODEL)
        s.user("hello")
        head = s.info.head
        with pytest.raises(InvalidRequest):
            s.window(tools=[tool])
        with pytest.raises(InvalidRequest):
            s.window(deferrable_tools=[tool])
        assert s.refresh().head == head


def test_examples_sources_and_calls_are_looked_into() -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model=MODEL)
        s.user("hello")
        wrong = Message("user", (Text(42),))  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest):
            s.window(examples=[wrong])
        for source in (wrong, print):
            with pytest.raises(InvalidRequest):
                s.window(sources=[source])  # type: ignore[list-item]
        with pytest.raises(InvalidRequest):
            list(hf.import_sources([wrong]))  # type: ignore[list-item]
        with pytest.raises(InvalidRequest):
            s.run_context_tool(ToolCall("c", "recall", {"handle": "#1"}))  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest):
            s.reply({"id": object()})
        assert s.explain(model=MODEL, compact=False).lines == s.explain(model=MODEL).lines


def test_no_policy_at_all_is_none() -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model=MODEL)
        s.user("hello")
        with pytest.raises(InvalidRequest):
            s.set_policy("")
        assert s.refresh().policy == "holdfast"
        s.window()
