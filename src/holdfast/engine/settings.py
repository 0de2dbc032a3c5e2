"""What the user chose: one frozen value; a settings file, then the environment, then arguments."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from holdfast.core.search.nearest import nearest
from holdfast.errors import HoldfastError, InvalidRequest, NotFound
from holdfast.files import config_home, data_home
from holdfast.model.spending import Caps
from holdfast.ports import Catalogue

KEYS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY",
    "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY",
    "DEEPSEEK_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN", "HOLDFAST_API_KEY",
    "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
)  # fmt: skip
"""Variables that may hold a key of ours; their values never enter the log."""


class StatusLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What draws the line below what is typed in a chat."""

    command: str = ""
    """A command line that gets the state as JSON; empty for our own line."""


class MemorySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Notes that outlive a session."""

    enabled: bool = True
    every: int = 1
    """Notes are extracted after every so many turns."""
    headless: bool = False
    """Also where nobody sits at a terminal."""
    share_worktrees: bool = False
    """Whether all worktrees of a repository have the same notes."""
    model: str = ""
    """A small model that chooses what is recalled; empty: notes are ranked by words."""
    cap: float = 0.25
    """What extraction and recall may cost in one session, in US dollars."""
    allowance: int = 2_000
    """So many tokens the notes recalled in one turn take at most."""


class Checkpoints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long what files held is kept, so that rewinds can bring it back."""

    days: int = 30
    """0 keeps it for ever."""
    keep: int = 1_000
    """So many changes, the newest, are kept however old they are."""


Wire = Literal["", "chat", "responses"]
"""How a server that is like OpenAI's is spoken to; empty where its address decides."""


class Providers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How providers are reached."""

    openai_api: Wire = ""
    """Chat Completions or Responses, wherever OPENAI_BASE_URL points to."""
    plain_http: tuple[str, ...] = ()
    """Hosts that may be spoken to without TLS, with a key too."""
    local_ports: tuple[int, ...] = (11434, 1234, 8080, 8000)
    """Where servers of models on this machine are looked for when no key is set."""


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent asks its model, unless the command line says otherwise."""

    thinking: str = ""
    """How long it may think: tokens, `on` for as long as is usual, `off`; empty: as usual there."""
    effort: str = ""
    reasoning_summary: str = ""
    service_tier: str = ""
    verbosity: str = ""
    prompt_history_bytes: int = 1_048_576
    """How large the file of what was typed may grow; 0: without a bound."""
    sections: dict[str, str] = {}
    """Sections of every request by their names: personality, developer, language and others."""


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set."""

    store: str
    """Where the log is kept: a path, or a URL such as sqlite:///log.db."""
    summary_model: str = ""
    """A cheaper model that writes summaries first, where a policy asks one."""
    secrets: tuple[str, ...] = ()
    """Values that are replaced wherever they turn up in what is appended."""
    trust: str = "ask"
    """Which files of a project act: those that were approved (ask), all (always), none (never)."""
    caps: Caps = Caps()
    """What may be spent."""
    status: StatusLine = StatusLine()
    providers: Providers = Providers()
    checkpoints: Checkpoints = Checkpoints()
    memory: MemorySettings = MemorySettings()
    agent: AgentSettings = AgentSettings()


def settings(store: str | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in force."""
    env = os.environ if environ is None else environ
    told = _read(config_home(env) / "settings.toml")
    named = env.get("HOLDFAST_STORE", "")  # blank is what a script makes of a variable not set
    chosen = store or named * bool(named.strip()) or told.get("store") or str(default_store(env))
    told_in = [one for name in KEYS if (value := env.get(name, "")) for one in _secret(name, value)]
    secrets = tuple(dict.fromkeys(one for one in told_in if len(one) >= 8))
    return Settings(
        store=chosen,
        secrets=secrets,
        summary_model=env.get("HOLDFAST_SUMMARY_MODEL", "").strip()
        or told.get("summary_model", ""),
        trust=env.get("HOLDFAST_TRUST", "").strip() or told.get("trust", "ask"),
        caps=told.get("caps", Caps()),
        status=told.get("status", StatusLine()),
        providers=_providers(told.get("providers", Providers()), env),
        checkpoints=told.get("checkpoints", Checkpoints()),
        memory=_memory(told.get("memory", MemorySettings()), env),
        agent=told.get("agent", AgentSettings()),
    )


def _memory(told: MemorySettings, env: Mapping[str, str]) -> MemorySettings:
    """What the file says, unless HOLDFAST_MEMORY forces it on, be it headless, or off."""
    named = env.get("HOLDFAST_MEMORY", "").strip().lower()
    if named not in ("", "on", "off", "1", "0"):
        raise InvalidRequest(f"HOLDFAST_MEMORY is {named!r}; say on or off")
    if not named:
        return told
    on = named in ("on", "1")
    return msgspec.structs.replace(told, enabled=on, headless=on)


def _providers(told: Providers, env: Mapping[str, str]) -> Providers:
    """What the file says of them, unless the environment says otherwise."""
    named = env.get("HOLDFAST_OPENAI_API", "").strip()
    hosts = tuple(host.lower() for host in told.plain_http)
    try:
        wire = msgspec.convert(named or told.openai_api, Wire)
    except msgspec.ValidationError:
        raise InvalidRequest(f"HOLDFAST_OPENAI_API is {named!r}; say chat or responses") from None
    return Providers(openai_api=wire, plain_http=hosts, local_ports=_ports(told, env))


def _ports(told: Providers, env: Mapping[str, str]) -> tuple[int, ...]:
    """The ports of HOLDFAST_LOCAL_PORTS, `none` for no port; else those of the file."""
    named = env.get("HOLDFAST_LOCAL_PORTS", "").strip()
    words = [] if named == "none" else named.replace(",", " ").split()
    if not all(word.isascii() and word.isdigit() and 0 < int(word) < 65_536 for word in words):
        raise InvalidRequest(
            f"HOLDFAST_LOCAL_PORTS is {named!r}; give ports, such as 11434,8080, or none"
        )
    return tuple(map(int, words)) if named else told.local_ports


def _secret(name: str, value: str) -> list[str]:
    """What of a variable is secret: all of it, and of headers what each of them says."""
    if not name.endswith("_HEADERS"):
        return [value.strip()]
    said = [header.partition("=")[2].strip() for header in value.split(",")]
    return [value.strip(), *said, *(one.rpartition(" ")[2] for one in said)]


def policy_name(named: str) -> str:
    """A policy as a session remembers it: a file in full, since it is opened from anywhere."""
    return str(Path(named).absolute()) if named.endswith(".toml") else named


def is_installed(catalogue: Catalogue, name: str) -> bool:
    """Whether a policy is known by a plain name, so that no file elsewhere is opened for it."""
    if not name.replace("-", "").replace("_", "").replace("@", "").isalnum():
        return False  # what could be a path
    try:
        catalogue.policy(name)
    except HoldfastError:
        return False
    return True


def default_store(environ: Mapping[str, str] | None = None) -> Path:
    """The store that is used when none is named."""
    return data_home(environ) / "holdfast.db"


TABLES: dict[str, type[Struct]] = {
    "caps": Caps, "status": StatusLine, "providers": Providers, "memory": MemorySettings,
    "agent": AgentSettings,
    "checkpoints": Checkpoints,
}  # fmt: skip
"""The settings that are tables of their own."""


def _read(file: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidRequest(f"{file} cannot be read as settings: {error}") from error
    known = [name for name in Settings.__struct_fields__ if name != "secrets"]
    for name in told:
        if name not in known:
            near = nearest(name, known)[:1]
            raise NotFound("setting", name, near, f"mend {file}")
    return {name: _value(file, name, value) for name, value in told.items()}


def _value(file: Path, name: str, value: Any) -> Any:
    if name in TABLES:
        try:
            return msgspec.convert(value, TABLES[name])
        except (msgspec.ValidationError, InvalidRequest) as wrong:
            raise InvalidRequest(f"{file}: [{name}] cannot be read ({wrong}); mend it") from wrong
    if not isinstance(value, str):
        raise InvalidRequest(f"{file}: {name} must be a text in quotes, not {value!r}")
    return value
