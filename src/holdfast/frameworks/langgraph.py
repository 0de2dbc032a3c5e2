"""Holdfast as the checkpointer of a LangGraph graph: its checkpoints lie in a log of their own.

Rule 1: what is put is one more entry, so a checkpoint is durable when `put` returns, and several
        processes may write one thread. What is known of a thread is read from its log, and only
        what is new of it when it is asked again.
Rule 2: a channel's value is kept once for each of its versions; it is read when it is asked for.
Rule 3: of a value that may not be stored, such as a key of ours, only its length is kept.
Rule 4: deleting a thread erases its log; what is pruned is out of sight, and goes with the thread.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote

from msgspec import Struct, field

from holdfast.engine.blocking import Session
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.errors import InvalidRequest, NotFound
from holdfast.frameworks.kept_messages import CHECKPOINTS, own_name
from holdfast.model import wire
from holdfast.model.message import Message, Opaque, Record
from holdfast.model.span import Span

try:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        get_checkpoint_id,
        get_checkpoint_metadata,
        writes_sort_key,
    )
except ImportError as absent:
    raise InvalidRequest("this adapter needs LangGraph 1.x; pip install langgraph") from absent

NAME = "langgraph"
KEPT_IN_MIND = 256
"""Of so many threads it is remembered what their logs hold."""

Version = str | int | float


class Put(Struct, frozen=True, kw_only=True, tag="put", tag_field="op"):
    """A checkpoint; its bytes, its metadata's and its new values' are the records beside it."""

    space: str
    id: str
    parent: str
    run: str
    types: tuple[str, str]
    versions: dict[str, Version]
    values: tuple[tuple[str, Version, str], ...]
    """Channel, version and type of each new value; one that is empty has no record."""


class Writes(Struct, frozen=True, kw_only=True, tag="writes", tag_field="op"):
    """What a task wrote after a checkpoint; the values are the records beside it."""

    space: str
    id: str
    task: str
    path: str
    writes: tuple[tuple[int, str, str], ...]
    """Place, channel and type of each."""


class Dropped(Struct, frozen=True, kw_only=True, tag="dropped", tag_field="op"):
    """Checkpoints that are no longer to be seen, with what was written after them."""

    ids: tuple[tuple[str, str], ...]


Event = Put | Writes | Dropped


class Ref(Struct, frozen=True):
    """Where bytes lie: an entry, and which of its records."""

    seq: int
    at: int
    type: str


class Thread(Struct):
    """What the log of a thread holds."""

    born: int
    """When its log was begun: another one under the same id is another log."""
    seen: int = 0
    puts: dict[str, dict[str, tuple[int, Put]]] = field(default_factory=dict)
    """By namespace and id: the entry of a checkpoint, and what it says."""
    values: dict[tuple[str, str, Version], Ref] = field(default_factory=dict)
    writes: dict[tuple[str, str], dict[tuple[str, int], tuple[str, str, Ref]]] = field(
        default_factory=dict
    )
    """After each checkpoint, by task and place: path and channel of what was written."""

    def take(self, seq: int, event: Event) -> None:
        """One more entry of the log."""
        self.seen = seq
        match event:
            case Put():
                self.puts.setdefault(event.space, {})[event.id] = seq, event
                filled = [one for one in event.values if one[2] != "empty"]
                for at, (channel, version, type) in enumerate(filled, 2):
                    self.values[event.space, channel, version] = Ref(seq, at, type)
            case Writes():
                known = self.writes.setdefault((event.space, event.id), {})
                for at, (place, channel, type) in enumerate(event.writes):
                    if place < 0 or (event.task, place) not in known:
                        known[event.task, place] = event.path, channel, Ref(seq, at, type)
            case Dropped():
                for space, id in event.ids:
                    self.puts.get(space, {}).pop(id, None)
                    self.writes.pop((space, id), None)

    def ancestry(self, space: str, id: str) -> Iterator[Put]:
        """A checkpoint and those it came from, the newest first."""
        while found := self.puts.get(space, {}).get(id):
            yield found[1]
            id = found[1].parent

    def needed(self, space: str, id: str) -> set[str]:
        """The checkpoints that one rests on: itself, and where channels that are kept as what
        changed begin, with all between."""
        line = list(self.ancestry(space, id))
        found, need = {id}, 0
        for channel in line[0].versions if line else ():
            need = max(need, self._depth(space, line, channel))
        found.update(one.id for one in line[: need + 1])
        return found

    def _depth(self, space: str, line: Sequence[Put], channel: str) -> int:
        """How far back the value of a channel begins; 0 where nothing is needed for it."""
        written = 0
        for depth, one in enumerate(line):
            version = one.versions.get(channel)
            if version is not None and (space, channel, version) in self.values:
                return depth
            after = self.writes.get((space, one.id), {}).values()
            if depth and any(channel == name for _, name, _ in after):
                written = depth
        return written


class HoldfastSaver(BaseCheckpointSaver[str]):
    """A checkpointer whose checkpoints are in a store of Holdfast; for threads and event loops."""

    def __init__(self, hf: Holdfast, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        if not isinstance(cast("object", hf), Holdfast):
            raise InvalidRequest(
                "a checkpointer takes what holdfast.open(…) gives, also in an event loop"
            )
        self._hf = hf
        self._threads: OrderedDict[str, Thread] = OrderedDict()
        self._lock = threading.RLock()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or else the newest of its thread."""
        thread, space = _thread(config), _space(config)
        with self._lock:
            known = self._known(thread)
            ids = known.puts.get(space, {}) if known else {}
            id = get_checkpoint_id(config) or max(ids, default="")
            if known is None or id not in ids:
                return None
            return self._tuple(thread, known, *ids[id])

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of a thread, or of all, the newest of each namespace first."""
        left = limit
        for thread, space, id in self._named(config, before):
            if left is not None and left <= 0:
                return
            named: Any = {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": id}
            found = self.get_tuple({"configurable": named})
            if found is None or not _like(found.metadata, filter):
                continue
            yield found
            left = None if left is None else left - 1

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint; durable when it returns."""
        thread, space = _thread(config), _space(config)
        bare = cast("dict[str, Any]", checkpoint.copy())
        values = cast("dict[str, Any]", bare.pop("channel_values"))
        told = cast("dict[str, Any]", get_checkpoint_metadata(config, metadata))
        whole, about = self.serde.dumps_typed(bare), self.serde.dumps_typed(told)
        new: list[tuple[str, Version, str]] = []
        data = [whole[1], about[1]]
        for channel, version in new_versions.items():
            type, value = "empty", b""
            if channel in values:
                type, value = self.serde.dumps_typed(values[channel])
            new.append((channel, version, type))
            data += [value] if type != "empty" else []
        event = Put(
            space=space,
            id=checkpoint["id"],
            parent=get_checkpoint_id(config) or "",
            run=str(told.get("run_id") or ""),
            types=(whole[0], about[0]),
            versions=dict(checkpoint["channel_versions"]),
            values=tuple(new),
        )
        self._append(thread, event, data)
        return {
            "configurable": {
                "thread_id": thread,
                "checkpoint_ns": space,
                "checkpoint_id": checkpoint["id"],
            }
        }

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep what a task wrote; told again it stays as it was, but for errors and interrupts."""
        made = [(channel, *self.serde.dumps_typed(value)) for channel, value in writes]
        if not made:
            return
        places = [WRITES_IDX_MAP.get(channel, at) for at, (channel, _) in enumerate(writes)]
        event = Writes(
            space=_space(config),
            id=str(config.get("configurable", {})["checkpoint_id"]),
            task=task_id,
            path=task_path,
            writes=tuple(
                (place, channel, type)
                for place, (channel, type, _) in zip(places, made, strict=True)
            ),
        )
        self._append(_thread(config), event, [data for _, _, data in made])

    def delete_thread(self, thread_id: str) -> None:
        """Erase everything of a thread for good."""
        with self._lock:
            self._threads.pop(str(thread_id), None)
            with suppress(NotFound):
                self._hf.erase(_session(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Take the checkpoints of these runs out of sight, in every thread."""
        runs = {str(run) for run in run_ids}
        with self._lock:
            for thread in list(self._all()):
                known = self._known(thread)
                puts = _puts(known) if known else []
                self._drop(thread, [(one.space, one.id) for one in puts if one.run in runs])

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy every checkpoint of a thread, with all that was written, into another."""
        source, target = str(source_thread_id), str(target_thread_id)
        with self._lock:
            if self._known(source) is None:
                return
            read, into = self._hf.session(_session(source)), self._log(target)
            for page in read.pages():
                into.append_all([entry.body for entry in page])

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep of each namespace the newest checkpoint, and what it rests on; or delete all."""
        if strategy not in ("keep_latest", "delete"):
            raise InvalidRequest(f"a strategy is 'keep_latest' or 'delete', not {strategy!r}")
        for thread in map(str, thread_ids):
            if strategy == "delete":
                self.delete_thread(thread)
                continue
            with self._lock:
                known = self._known(thread)
                for space, puts in known.puts.items() if known else ():
                    stay = known.needed(space, max(puts)) if known and puts else set[str]()
                    self._drop(thread, [(space, id) for id in puts if id not in stay])

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The same, awaited."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The same, awaited."""
        listed = self.list(config, filter=filter, before=before, limit=limit)
        while (found := await asyncio.to_thread(next, listed, None)) is not None:
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The same, awaited."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """The same, awaited."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """The same, awaited."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """The same, awaited."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """The same, awaited."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """The same, awaited."""
        await asyncio.to_thread(lambda: self.prune(thread_ids, strategy=strategy))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A version greater than every one before it, and no other writer's."""
        now = int(str(current).split(".")[0]) if current is not None else 0
        return f"{now + 1:032}.{random.random():016}"

    def _log(self, thread: str) -> Session:
        """The session that holds the checkpoints of a thread; it is in no list of sessions."""
        log = self._hf.session(_session(thread), create=True, title=f"checkpoints of {thread}"[:99])
        if not log.info.archived:
            log.archive()
        return log

    def _append(self, thread: str, event: Event, data: Iterable[bytes] = ()) -> None:
        with self._lock:
            log = self._log(thread)
            records = [
                Record(NAME, "bytes", _without(one, log.secrets), line=at, whole=True)
                for at, one in enumerate(data)
            ]
            log.append(Message("user", (Opaque(NAME, "event", wire.encode(event)), *records)))

    def _drop(self, thread: str, ids: list[tuple[str, str]]) -> None:
        if ids:
            self._append(thread, Dropped(ids=tuple(ids)))

    def _known(self, thread: str) -> Thread | None:
        """What a thread's log holds by now; None where there is none."""
        store = self._hf.engine.store
        info = drive(store.sessions.find(_session(thread)))
        if info is None:
            self._threads.pop(thread, None)
            return None
        known = self._threads.get(thread)
        if known is None or known.born != info.created or known.seen > info.head:
            known = Thread(born=info.created)
        while known.seen < info.head:
            span = (Span(known.seen + 1, info.head),)
            page = drive(store.log.read(info.id, span, bare=True))
            for entry in page:
                known.take(entry.seq, _event(entry.body))
            if not page:
                break
        self._threads[thread] = known
        self._threads.move_to_end(thread)
        while len(self._threads) > KEPT_IN_MIND:
            self._threads.popitem(last=False)
        return known

    def _all(self) -> Iterator[str]:
        """Every thread that has checkpoints."""
        for info in list(self._hf.every_session()):
            if info.id.startswith(CHECKPOINTS):
                yield unquote(info.id.removeprefix(CHECKPOINTS))

    def _named(
        self, config: RunnableConfig | None, before: RunnableConfig | None
    ) -> list[tuple[str, str, str]]:
        """Thread, namespace and id of the checkpoints that configs ask for."""
        named = config.get("configurable", {}) if config else {}
        space, only = named.get("checkpoint_ns"), named.get("checkpoint_id")
        end = get_checkpoint_id(before) if before else None
        found: list[tuple[str, str, str]] = []
        with self._lock:
            for thread in [_thread(config)] if config else list(self._all()):
                known = self._known(thread)
                for one, puts in known.puts.items() if known else ():
                    if space is None or one == space:
                        ids = [id for id in puts if only in (None, id) and (not end or id < end)]
                        found += [(thread, one, id) for id in sorted(ids, reverse=True)]
        return found

    def _tuple(self, thread: str, known: Thread, seq: int, put: Put) -> CheckpointTuple:
        reads: dict[int, tuple[Record, ...]] = {}

        def load(ref: Ref) -> Any:
            if ref.seq not in reads:
                reads[ref.seq] = self._records(thread, ref.seq)
            return self.serde.loads_typed((ref.type, reads[ref.seq][ref.at].data))

        bare = load(Ref(seq, 0, put.types[0]))
        refs = {
            channel: known.values[put.space, channel, version]
            for channel, version in put.versions.items()
            if (put.space, channel, version) in known.values
        }
        values = {channel: load(ref) for channel, ref in refs.items()}
        after = known.writes.get((put.space, put.id), {})
        order = sorted(after, key=lambda one: writes_sort_key(after[one][0], *one))
        named = {"thread_id": thread, "checkpoint_ns": put.space}
        return CheckpointTuple(
            config={"configurable": {**named, "checkpoint_id": put.id}},
            checkpoint=cast("Checkpoint", {**bare, "channel_values": values}),
            metadata=load(Ref(seq, 1, put.types[1])),
            parent_config=(
                {"configurable": {**named, "checkpoint_id": put.parent}} if put.parent else None
            ),
            pending_writes=[(one[0], after[one][1], load(after[one][2])) for one in order],
        )

    def _records(self, thread: str, seq: int) -> tuple[Record, ...]:
        (entry,) = drive(self._hf.engine.store.log.read(_session(thread), (Span(seq, seq),)))
        parts = entry.body.parts if isinstance(entry.body, Message) else ()
        return tuple(part for part in parts if isinstance(part, Record))


def _event(body: object) -> Event:
    if isinstance(body, Message) and body.parts and isinstance(body.parts[0], Opaque):
        return wire.decode(body.parts[0].data, Event)  # type: ignore[arg-type]
    return Dropped(ids=())  # what a person put there says nothing of checkpoints


def _puts(known: Thread) -> list[Put]:
    return [put for puts in known.puts.values() for _, put in puts.values()]


def _thread(config: RunnableConfig) -> str:
    id = config.get("configurable", {}).get("thread_id")
    if id in (None, ""):
        raise InvalidRequest("name the thread: config={'configurable': {'thread_id': …}}")
    return str(id)


def _space(config: RunnableConfig) -> str:
    return config.get("configurable", {}).get("checkpoint_ns") or ""


def _session(thread: str) -> str:
    return CHECKPOINTS + own_name(thread)


def _like(metadata: Any, wanted: dict[str, Any] | None) -> bool:
    return all(metadata.get(name) == value for name, value in (wanted or {}).items())


def _without(data: bytes, secrets: Sequence[str]) -> bytes:
    """The bytes with our keys struck out, as long as before: packed text says how long it is."""
    for secret in filter(None, secrets):
        told = secret.encode("utf-8", "surrogatepass")
        data = data.replace(told, b"*" * len(told))
    return data
