"""Imports a portable file with a hostile value in each of its text fields, and uses what came.

Run by test_hostile_fields.py in a process of its own: an audit hook sees, and refuses, whatever
file is opened beneath the bait, every connection and every program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect
from msgspec.structs import replace

import holdfast
from holdfast.errors import HoldfastError
from holdfast.model import wire
from holdfast.model.log import SessionInfo
from holdfast.model.portable import PortableMarker, PortableMessage, PortableSession
from holdfast.model.reply import Call

MODEL = "claude-sonnet-4-5"
ACTS = ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec", "os.remove")


class Filling:
    """Makes values of a type; the hostile text stands in one field, or in every one."""

    def __init__(self, hostile: str, only: str = "") -> None:
        self._hostile, self._only = hostile, only
        self.fields: dict[str, None] = {}

    def made(self, kind: inspect.Type, where: str = "") -> list[Any]:
        """Values of a type: one, or of a union one of each."""
        if isinstance(kind, inspect.UnionType):
            return [one for inner in kind.types for one in self.made(inner, where)]
        if isinstance(kind, inspect.StructType):
            return [self._struct(kind)]
        if isinstance(kind, inspect.StrType):
            self.fields[where] = None
            return [self._hostile if self._only in ("", where) else ""]
        return [self._plain(kind, where)]

    def _struct(self, kind: inspect.StructType) -> Any:
        name = kind.cls.__name__
        given = {one.name: self.made(one.type, f"{name}.{one.name}")[0] for one in kind.fields}
        return kind.cls(**given)

    def _plain(self, kind: inspect.Type, where: str) -> Any:
        if isinstance(kind, inspect.VarTupleType):
            return tuple(self.made(kind.item_type, where))
        if isinstance(kind, inspect.TupleType):
            return tuple(self.made(one, where)[0] for one in kind.item_types)
        if isinstance(kind, inspect.DictType):
            return {self.made(kind.key_type, where)[0]: self.made(kind.value_type, where)[0]}
        if isinstance(kind, inspect.LiteralType):
            return kind.values[0]
        if isinstance(kind, inspect.BytesType):
            return self._hostile.encode()
        return {inspect.IntType: 1, inspect.BoolType: True, inspect.FloatType: 1.0}.get(type(kind))


def sessions(hostile: str, each: bool) -> Iterator[tuple[str, PortableSession]]:
    """A session with the hostile value everywhere, and one for each field that has it alone."""
    everywhere = Filling(hostile)
    yield "everywhere", session(everywhere, "s-everywhere")
    for number, field in enumerate(everywhere.fields if each else ()):
        yield field, session(Filling(hostile, field), f"s-{number}")


def session(filling: Filling, id: str) -> PortableSession:
    """A session that has every kind of part and of marker."""

    def of(cls: type) -> Any:
        return filling.made(inspect.type_info(cls))[0]

    info = of(SessionInfo)
    info = replace(info, id=id, fork=0, archived=0, policy=info.policy or "holdfast")
    (said,) = filling.made(inspect.type_info(PortableMessage))
    messages = [replace(said, role=role) for role in ("user", "assistant", "tool", "user")]
    fields = inspect.type_info(PortableMarker).fields  # type: ignore[attr-defined]
    kinds = next(one.type for one in fields if one.name == "marker")
    marker = of(PortableMarker)
    markers = [replace(marker, marker=one) for one in filling.made(kinds) if _fits(one)]
    placed = [
        replace(one, seq=seq, id=f"{id}-{seq}", key="", counts=())
        if isinstance(one, PortableMessage) else replace(one, seq=seq, id=f"{id}-{seq}", key="")
        for seq, one in enumerate((*messages, *markers), 1)
    ]  # fmt: skip
    policy = filling.made(inspect.type_info(str), "Given.policy")[0] or "holdfast"
    given = wire.encode({"system": "x", "model": MODEL, "policy": policy})
    call = of(Call)
    call = replace(
        call, id=f"{id}-c", head=1, given=wire.digest(given).hex(), cause="turn", outcome="done",
        entry=call.entry or f"{id}-2", model=call.model or MODEL,
    )  # fmt: skip
    return PortableSession(
        version=1, session=info, calls=(call,), given={call.given: given},
        messages=tuple(one for one in placed if isinstance(one, PortableMessage)),
        markers=tuple(one for one in placed if isinstance(one, PortableMarker)),
    )  # fmt: skip


def _fits(marker: Any) -> bool:
    return type(marker).__name__ not in ("Summary", "Rewind", "Damaged", "Repair", "Clear")


def use(hf: Any, id: str) -> dict[str, Any]:
    """Do with an imported session what its user would; what is in force of it."""
    from holdfast.agent.build import workplace
    from holdfast.agent.model_choice import led, whom

    opened = hf.session(id)
    told: dict[str, Any] = {"policy": opened.info.policy, "errors": []}
    with suppress(HoldfastError):
        told["model"] = led(opened)
        # Servers on this machine are looked for at ports of the user's settings; here at none.
        whom(told["model"], {"HOLDFAST_LOCAL_PORTS": "none"})
    workplace(opened.info)
    for what, act in acts(hf, opened, told):
        try:
            act()
        except HoldfastError as error:
            told["errors"].append(f"{what}: {type(error).__name__}: {error}")
    return told


def acts(hf: Any, opened: Any, told: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is done with a session."""

    def window(model: str) -> None:
        made = opened.window(model=model)
        told["room"] = repr(made.window.budget)
        for format in ("anthropic", "openai-chat", "openai-responses", "gemini"):
            with suppress(HoldfastError):
                made.request(format)

    id = opened.id
    yield "window", partial(window, MODEL)
    yield "own window", partial(window, told.get("model") or MODEL)
    yield from (("ledger", opened.ledger), ("status", opened.status))
    yield from (("explain", opened.explain_now), ("call", partial(opened.explain, f"{id}-2")))
    yield from (("search", partial(hf.search, "evil")), ("stats", hf.stats))
    if id == "s-everywhere":
        for to in ("portable", "markdown", "html", "claude-code", "codex"):
            yield to, partial(hf.export, id, to)
        for to in ("claude-code", "codex", "chat", "markdown"):
            yield f"hand over to {to}", partial(hf.handoff, id, to)


def main(folder: Path, bait: str, hostile: str, each: bool) -> None:
    """Import, use and report."""
    acted: list[str] = []
    doing = ["setting up"]

    def audit(event: str, args: tuple[Any, ...]) -> None:
        named = str(args[0]) if args else ""
        touched = event in ("open", "os.listdir", "os.scandir") and bait in named
        if touched or (event in ACTS and event != "os.remove"):
            acted.append(f"{doing[0]}: {event} {named[:200]}")
            raise PermissionError(f"{event} {named}")

    report: dict[str, Any] = {"fields": {}, "acted": acted}
    with holdfast.open(str(folder / "store.db")) as hf:
        sys.addaudithook(audit)
        for field, told in sessions(hostile, each):
            doing[0] = field
            file = folder / "hostile.ndjson"
            file.write_bytes(msgspec.json.encode(told) + b"\n")
            (done,) = hf.import_from(file)
            problems = [one.what for one in done.problems]
            used = use(hf, done.sessions[0]) if done.sessions else {}
            report["fields"][field] = used | {"problems": problems, "came": bool(done.sessions)}
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], len(sys.argv) > 4)
