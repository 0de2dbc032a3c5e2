"""Whom to talk to: a model by its name, or the best one a key is there for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import urlsplit

from holdfast.engine.bridge import drive
from holdfast.engine.client import Session
from holdfast.engine.plugins import (
    catalogue,
    embedded,
    has_weights,
    local_servers,
    provider,
    served_models,
    shown,
)
from holdfast.engine.settings import settings
from holdfast.errors import AuthError, InvalidRequest, ProviderError
from holdfast.model.rate_limits import Limits
from holdfast.ports import Provider, ResponseStream

FORMATS: Final = {"anthropic": "anthropic", "openai": "openai-responses", "google": "gemini"}

KEYS: Final = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}

USUAL: Final = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-5",
    "google": "gemini-2.5-pro",
}
"""The model that is taken where none is named, by the key that is there."""

_SILENT: Final = re.compile(
    r"embed|rerank|whisper|transcri|tts|speech|moderation|dall-e|image|clip|bge-", re.IGNORECASE
)
"""Models that servers list too, and that do not talk."""

_CHAT_ONLY: Final = re.compile(r"audio|search-preview")
"""Models of OpenAI's own that the Responses API does not have."""

SMALL: Final = "smollm2-135m"
"""The model that runs on this machine: small enough to be there, too small to be good."""


class ModelTarget(NamedTuple):
    """A model, its provider, and the format it is spoken to in."""

    model: str
    provider: str
    format: str

    weights: str = ""
    """A file of weights, for a model on this machine."""

    why: str = ""
    """How it was chosen, where nobody has named it and there was a choice."""

    url: str = ""
    """The server on this machine that has it; empty where its provider is elsewhere."""

    def open(self, loading: Callable[[float], None] = lambda _: None) -> Provider:
        """The provider itself; its key and address are those its own SDK would use.

        `loading` is told for how many seconds a model on this machine has been loading.
        """
        if self.provider == "embedded":
            return Local(*embedded(self.weights, loading=loading))
        return provider(self.provider, self.format, url=self.url)


class Local:
    """A model on this machine, held as long as it is spoken to."""

    blocking: ClassVar[bool] = True

    def __init__(self, inner: Provider, served: object) -> None:
        self._inner, self._served = inner, served
        self.name, self.format = inner.name, inner.format

    @property
    def limits(self) -> Limits | None:
        """Nobody limits it but this machine."""
        return self._inner.limits

    async def begin(self, request: dict[str, Any]) -> ResponseStream:
        """Send a request that streams."""
        return await self._inner.begin(request)

    def close(self) -> None:
        self._inner.close()
        self._served = None


def whom(model: str = "", environ: Mapping[str, str] | None = None) -> ModelTarget:
    """Whom to talk to; AuthError, with what to do, where there is no key."""
    env = os.environ if environ is None else environ
    if not model:
        model = env.get("HOLDFAST_MODEL", "").strip() or _keyed(env)
    if not model:
        return _served(env) if compatible(env) else _unkeyed(env)
    if model.endswith(".gguf"):
        return ModelTarget(model, "embedded", "openai-chat", model)
    if model == SMALL:
        return ModelTarget(model, "embedded", "openai-chat")
    name = catalogue().profile(model).provider
    keyed = _has_key(name, env) or compatible(env)
    if not keyed and (here := next((one for one in local(env) if model in one.models), None)):
        return ModelTarget(model, "openai", "openai-chat", url=here.url)
    if name not in FORMATS or name == "openai" or _routed(model, name, env):
        return ModelTarget(model, "openai", _wire(model, env))
    return ModelTarget(model, name, FORMATS[name])


def _routed(model: str, name: str, env: Mapping[str, str]) -> bool:
    """Whether the server at OPENAI_BASE_URL is asked for a model of somebody else.

    It is for a name as routers write it, and where its maker's own key is not there.
    """
    return compatible(env) and ("/" in model or not _has_key(name, env))


def _has_key(name: str, env: Mapping[str, str]) -> bool:
    """Whether a provider's key is set; a model that nobody knows is asked for at OpenAI's."""
    return any(env.get(key, "").strip() for key in KEYS.get(name, KEYS["openai"]))


def _wire(model: str, env: Mapping[str, str]) -> str:
    """How OpenAI, or a server like it, is spoken to: as the user says, else as it can be."""
    chosen = settings(environ=env).providers.openai_api
    if not chosen:
        chosen = "chat" if compatible(env) or _CHAT_ONLY.search(model) else "responses"
    return f"openai-{chosen}"


def led(session: Session) -> str:
    """The model that goes on with a session: who was asked for last, else who has led it."""
    from holdfast.engine.window.sections import in_use

    model = drive(in_use(session.store.log, session.view()))
    if model.endswith(".gguf"):  # a session may be imported: no file is loaded on its word
        raise InvalidRequest(
            f"this session was led by the file {model}; name it with -m to go on with it"
        )
    return model


def _keyed(env: Mapping[str, str]) -> str:
    """The model of the first provider that there is a key for; empty for a server's own."""
    for name, keys in KEYS.items():
        if name == "openai" and compatible(env):
            return ""
        if any(env.get(key) for key in keys):
            return USUAL[name]
    return ""


def _unkeyed(env: Mapping[str, str]) -> ModelTarget:
    """Whom to talk to without a key: a server that runs on this machine, else our small model."""
    for server in local(env):
        if talking := talkative(server.models):
            how = _how(len(server.models))
            why = f"{talking[0]} is {how} that {server.name} has; -m NAME takes another"
            return ModelTarget(talking[0], "openai", "openai-chat", why=why, url=server.url)
    if has_weights():
        return ModelTarget(SMALL, "embedded", "openai-chat")
    raise AuthError(
        "no model is named, no key is set, and no server of models answers on this machine; set "
        "ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, start a server such as Ollama, name "
        "another with OPENAI_BASE_URL, or fetch a small model with `holdfast models pull`"
    )


def local(env: Mapping[str, str]) -> tuple[Any, ...]:
    """The servers of models that run on this machine, where they are usually reached."""
    return local_servers(settings(environ=env).providers.local_ports)


def talkative(names: Iterable[str]) -> list[str]:
    """Those that talk: servers list models for embeddings, speech and pictures too."""
    return [name for name in names if not _SILENT.search(name)]


def _how(many: int) -> str:
    return "the only model" if many == 1 else f"one of the {many} models"


def _served(env: Mapping[str, str]) -> ModelTarget:
    """Whom to talk to at OPENAI_BASE_URL, which says itself what it has.

    That is its only model; of several the usual one if it is there, else the first that talks.
    """
    url = env["OPENAI_BASE_URL"].strip()
    at = shown(url)
    try:
        names = served_models(url, env.get("OPENAI_API_KEY", "").strip())
    except ProviderError as failed:
        raise AuthError(
            f"no model is named, and the server at OPENAI_BASE_URL ({at}) does not say which it "
            f"has: {failed}; see that it runs, or name its model with -m"
        ) from failed
    talking = talkative(names) or list(names)
    if not talking:
        raise AuthError(f"the server at {at} has no model; load one there, or name one with -m")
    model = USUAL["openai"] if USUAL["openai"] in talking else talking[0]
    why = f"{model} is {_how(len(names))} that {at} has; -m NAME takes another"
    return ModelTarget(model, "openai", _wire(model, env), why=why)


def compatible(env: Mapping[str, str]) -> bool:
    """Whether OpenAI's address is another server's: what all of those know is Chat Completions."""
    named = env.get("OPENAI_BASE_URL", "").strip()
    try:
        return bool(named) and urlsplit(named).hostname != "api.openai.com"
    except ValueError:
        return True  # whoever speaks to it says what is wrong with it
