"""From a name to an adapter: built-in ones by table, others by entry point, loaded when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from holdfast.core.search.nearest import nearest
from holdfast.engine.settings import settings
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.store import Salvaged
from holdfast.model.window import Count
from holdfast.ports import (
    Catalogue,
    Codec,
    Counter,
    Directory,
    Embedder,
    Importer,
    Provider,
    Store,
    Telemetry,
)

STORES = {
    "sqlite": "holdfast.stores.sqlite.store:SqliteStore.open",
    "memory": "holdfast.stores.memory:MemoryStore.open",
}
"""By scheme, called with the rest of the URL; others join as entry points `holdfast.stores`."""

LAYOUTS = {"sqlite": "holdfast.stores.search.prebuilt:Laying"}
"""Who lays entries out for a store, in a process that has none; by the name the store gives."""

CODECS = {
    "anthropic": "holdfast.codecs.anthropic:Anthropic",
    "openai-responses": "holdfast.codecs.openai_responses:ResponsesCodec",
    "openai-chat": "holdfast.codecs.openai_chat:ChatCodec",
    "gemini": "holdfast.codecs.gemini:Gemini",
}
"""By wire format; others join as entry points `holdfast.codecs`."""

COUNTERS = {
    "cl100k_base": "holdfast.counters.exact:ExactCounter",
    "o200k_base": "holdfast.counters.exact:ExactCounter",
}
"""By vocabulary, called with its name; others join as entry points `holdfast.counters`."""

IMPORTERS = {
    "portable": "holdfast.importers.portable:Portable",
    "gemini-cli": "holdfast.importers.gemini_cli:GeminiCli",
    "opencode": "holdfast.importers.opencode:OpenCode",
    "aider": "holdfast.importers.aider:Aider",
    "claude-code": "holdfast.importers.claude_code:ClaudeCode",
    "copilot-cli": "holdfast.importers.copilot_cli:CopilotCli",
    "pi": "holdfast.importers.pi:Pi",
    "codex": "holdfast.importers.codex:Codex",
}
"""By the program whose transcripts they read; others join as entry points `holdfast.importers`."""

EMBEDDERS = {"wordllama": "holdfast.embedders.wordllama:WordLlama"}
"""By name; others join as entry points `holdfast.embedders`."""

TRANSPORT = "holdfast.providers.transport:HttpTransport"

CATALOGUE = "holdfast.providers.catalogue:BuiltIn"

POLICIES = "holdfast.policies:names"

ALIASES = {"openai": "openai-responses", "google": "gemini", "claude": "anthropic"}

FILES = {"sqlite": "holdfast.stores.sqlite.location:file_at"}
"""Which file a store is, by its scheme, for those that are one."""

SALVAGE = {"sqlite": "holdfast.stores.health.salvage:salvage"}
"""How a damaged file is salvaged, by the scheme of its store."""


def open_store(url: str) -> Store:
    """The store at a URL; a plain path is a SQLite file.

    As elsewhere in Python, `sqlite:///log.db` is relative and `sqlite:////var/log.db` absolute.
    """
    scheme, rest = _split(url)
    return cast(Store, _find("stores", "kind of store", STORES, scheme)(rest))


def laying(layout: str) -> Any:
    """Who lays the entries of one source out."""
    return _load(LAYOUTS[layout])()


def salvage(url: str) -> Salvaged:
    """Put a fresh store, with all that can still be read, in the place of a damaged one.

    It is not opened as a store for that, and nobody else may have it open.
    """
    scheme, rest = _split(url)
    if scheme not in SALVAGE:
        raise InvalidRequest(
            f"a store of kind {scheme!r} cannot be salvaged; restore it from a backup"
        )
    return cast(Callable[[str], Salvaged], _load(SALVAGE[scheme]))(rest)


def file_of(url: str) -> Path | None:
    """The file that the store at a URL is; None where it is something else."""
    scheme, rest = _split(url)
    return cast(Path, _load(FILES[scheme])(rest)) if scheme in FILES else None


def _split(url: str) -> tuple[str, str]:
    scheme, mark, rest = url.partition(":")
    if not mark or len(scheme) < 2 or not scheme.isalnum():
        return "sqlite", url  # a path; one letter before a colon is a drive
    rest = rest.removeprefix("//").removeprefix("/") if rest.startswith("//") else rest
    if scheme == "sqlite" and not rest:
        raise InvalidRequest(f"{url!r} names no file; write sqlite:///log.db, or just the path")
    return scheme, rest


@cache
def codec(format: str) -> Codec:
    """The codec of a wire format."""
    return _find("codecs", "wire format", CODECS, ALIASES.get(format, format))()


@cache
def counter(name: str) -> Counter:
    """The counter of a vocabulary."""
    return cast(Counter, _find("counters", "vocabulary", COUNTERS, name)(name))


@cache
def embedder(name: str = "wordllama") -> Embedder:
    """What compares meanings; InvalidRequest, saying what to install, where it is missing."""
    return cast(Embedder, _find("embedders", "embedder", EMBEDDERS, name)())


@cache
def importer(name: str) -> Importer:
    """What reads the transcripts of a program."""
    return cast(Importer, _find("importers", "importer", IMPORTERS, name)())


def importers() -> tuple[str, ...]:
    """The programs whose transcripts can be read."""
    return tuple(dict.fromkeys((*IMPORTERS, *_others("importers"))))


def count_stream(chunks: Iterable[str], vocabulary: str) -> Count:
    """The exact count of a text of any length, chunk by chunk."""
    return cast(Count, _load("holdfast.counters.exact:count_stream")(chunks, vocabulary))


def endpoint(
    provider: str, model: str = "", *, key: str = "", url: str = "", seconds: float = 0.0
) -> Counter:
    """What counts for a provider by asking it; key and address are those its SDK would use.

    `seconds` is how long an answer may take; as long as the transport waits unless told.
    """
    patience = {"seconds": seconds} if seconds else {}
    transport = _load(TRANSPORT)(
        provider, key=key, url=url, plain=settings().providers.plain_http, **patience
    )
    return cast(Counter, _load("holdfast.counters.provider:ProviderCounter")(transport, model))


def provider(
    name: str, format: str, *, key: str = "", url: str = "", seconds: float = 0.0
) -> Provider:
    """Whom to talk to; key and address are those the provider's own SDK would use.

    `seconds` is how long a reply may keep silent; ten minutes unless told.
    """
    transport = _load(TRANSPORT)(
        name, key=key, url=url, plain=settings().providers.plain_http,
        seconds=seconds or _load("holdfast.providers.endpoint:SECONDS"),
    )  # fmt: skip
    return cast(Provider, _load("holdfast.providers.endpoint:HttpProvider")(transport, format))


def embedded(
    weights: str = "", window: int = 0, loading: Callable[[float], None] = lambda _: None
) -> tuple[Provider, Any]:
    """A model on this machine, and what has to be held as long as it is spoken to.

    `loading` is told for how many seconds it has been loading.
    """
    file = weights or str(_load("holdfast.providers.weights:place")())
    served = _load("holdfast.providers.embedded:serve")(
        file, window or _load("holdfast.providers.embedded:WINDOW"), loading=loading
    )
    return provider("openai", "openai-chat", key=served.key, url=served.url), served


def shown(url: str) -> str:
    """An address as it may be told: without what may be secret in it."""
    return str(_load("holdfast.providers.base_url:shown")(url))


def served_models(url: str, key: str = "") -> tuple[str, ...]:
    """The models that a server like OpenAI's says it has, in its own order."""
    from holdfast.engine.bridge import drive

    find = _load("holdfast.providers.served_models:served")
    return cast("tuple[str, ...]", drive(find(url, key, settings().providers.plain_http)))


def local_servers(ports: Iterable[int]) -> tuple[Any, ...]:
    """The servers of models that run on this machine and answer on these ports."""
    from holdfast.engine.bridge import drive

    find = _load("holdfast.providers.local_servers:local_servers")
    return cast("tuple[Any, ...]", drive(find(tuple(ports))))


def has_weights() -> bool:
    """Whether the model that comes with us has been fetched."""
    return bool(_load("holdfast.providers.weights:there")())


def pull_weights(progress: Callable[[int, int], None]) -> Path:
    """Fetch the model that comes with us; where it is then."""
    return cast(Path, _load("holdfast.providers.weights:pull")(progress))


def directory(path: str, secrets: tuple[str, ...]) -> Directory:
    """A directory that an agent works in: scanned, and put back as it was."""
    return cast("Directory", _load("holdfast.workspace.directory:Directory")(path, secrets))


def can_map() -> bool:
    """Whether what reads a repository is installed."""
    return bool(_load("holdfast.repomap.parse:installed")())


def repo_map(directory: Any, **chosen: Any) -> Any:
    """The map of what lies beneath a directory, as a Source; `chosen` as a RepoMap takes it."""
    return _load("holdfast.repomap.source:RepoMap")(directory, **chosen)


def map_asked(**told: Any) -> Any:
    """What a map is to dwell on."""
    return _load("holdfast.repomap.source:Asked")(**told)


def measured() -> Telemetry | None:
    """Whoever measures, where the program or its environment has set that up."""
    return cast("Telemetry | None", _load("holdfast.telemetry:telemetry")())


@cache
def catalogue() -> Catalogue:
    """What is known of models, and which policies there are."""
    return _load(CATALOGUE)()


def policies() -> tuple[str, ...]:
    """The names of the policies that come with Holdfast."""
    return cast("tuple[str, ...]", _load(POLICIES)())


def _find(group: str, kind: str, built_in: Mapping[str, str], name: str) -> Any:
    """A built-in adapter by its name, or the entry point of that name."""
    if name in built_in:
        return _load(built_in[name])
    others = _others(group)
    if name in others:
        return others[name].load()
    known = (*built_in, *others)
    near = nearest(name, known)[:1]
    raise NotFound(kind, name, near, f"name one of {', '.join(known)}")


@cache  # every package that is installed is looked at
def _others(group: str) -> dict[str, Any]:
    """The entry points of a group, by name."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    return {point.name: point for point in entry_points(group=f"holdfast.{group}")}


def _load(where: str) -> Any:
    module, _, names = where.partition(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found
