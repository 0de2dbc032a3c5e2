"""Policies of the user's own, kept by what they say: any process goes on, wherever their file is.

Rule 1: a session names such a policy by its name and the SHA-256 of its content; the content, its
        prompts included, is kept with the session.
Rule 2: content that an import brought is not in force until the user names it, with `set_policy`.
Rule 3: kept content names no file: nothing is opened for it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from holdfast.errors import InvalidRequest, NotFound, StoreError
from holdfast.model import wire
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.ports import Catalogue, Store

if TYPE_CHECKING:
    from holdfast.model.log import SessionInfo

MARK = "@sha256:"
"""What stands between a policy's name and its hash."""

FILES = (".md", ".txt")


class Content(Struct, frozen=True, forbid_unknown_fields=True):
    """A policy with the prompts that its file brought along."""

    policy: Policy
    prompts: dict[str, str] = {}


def hash_in(name: str) -> str:
    """The hash that a policy is named by; empty where it is named otherwise."""
    found = name.rpartition(MARK)
    hash = found[2] if found[1] else ""
    return hash if len(hash) == 64 and not set(hash) - set("0123456789abcdef") else ""


class KeptPolicies:
    """What is known of the policies that sessions keep, by their names with the hash."""

    def __init__(self) -> None:
        self._known: dict[str, Content] = {}
        """By hash: what has one never changes."""

    def content(self, name: str) -> Content | None:
        """What is kept under a name; None where it is not known here."""
        return self._known.get(hash_in(name))

    def prompt(self, name: str) -> str | None:
        """A prompt that came with one of them."""
        texts = (content.prompts.get(name) for content in self._known.values())
        return next((text for text in texts if text is not None), None)

    async def keep(
        self, store: Store, session: str, named: str | Policy, catalogue: Catalogue
    ) -> str:
        """The name to keep a policy by; the content of one of the user's own is kept beside it."""
        name, data = self.named(named, catalogue)
        if data:
            await store.calls.keep(session, data)
        return name

    def named(self, named: str | Policy, catalogue: Catalogue) -> tuple[str, bytes]:
        """The name to keep a policy by, and its content where it is the user's own."""
        if isinstance(named, str) and not named.endswith(".toml"):
            return named, b""
        told = catalogue.policy(named) if isinstance(named, str) else _whole(named)
        own = told.name or (Path(named).stem if isinstance(named, str) else "own")
        data = _packed(told, catalogue)
        hash = wire.digest(data).hex()
        self._known[hash] = _unpacked(data)
        return f"{own}{MARK}{hash}", data

    async def load(self, store: Store, session: str, name: str) -> None:
        """Know what a session keeps under a name; where it is missing, using it says so."""
        hash = hash_in(name)
        if not hash or hash in self._known:
            return
        with suppress(NotFound, StoreError):
            data = await store.calls.kept(session, hash)
            if wire.digest(data).hex() == hash:
                self._known[hash] = _unpacked(data)

    async def copy(self, store: Store, source: SessionInfo, target: str) -> None:
        """Keep what one session keeps in another as well."""
        if hash := hash_in(source.policy):
            with suppress(NotFound):
                await store.calls.keep(target, await store.calls.kept(source.id, hash))


def _whole(policy: Policy) -> Policy:
    """The policy itself, with everything in it of the type it is to have."""
    try:
        return msgspec.convert(msgspec.to_builtins(policy), Policy)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise InvalidRequest(f"this policy cannot be kept: {error}") from error


def _packed(policy: Policy, catalogue: Catalogue) -> bytes:
    prompts: dict[str, str] = {}

    def inlined(value: Any) -> Any:
        if isinstance(value, list):
            return [inlined(one) for one in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        made = {key: inlined(one) for key, one in cast("dict[str, Any]", value).items()}
        for key in ("prompt", "verify"):
            if str(made.get(key, "")).endswith(FILES):
                text = catalogue.prompt(made[key])
                made[key] = f"kept-{wire.digest(text.encode()).hex()[:16]}"
                prompts[made[key]] = text
        return made

    return wire.encode({"policy": inlined(msgspec.to_builtins(policy)), "prompts": prompts})


def _unpacked(data: bytes) -> Content:
    """The content of a policy; InvalidRequest where it is none, or would have a file read."""
    try:
        content = wire.decode(data, Content)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"what is kept as a policy cannot be read: {error}") from error
    if _names_files(msgspec.to_builtins(content.policy)):
        raise InvalidRequest("what is kept as a policy names a file, and none is read for it")
    return content


def _names_files(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_names_files, cast("list[Any]", value)))
    if not isinstance(value, dict):
        return False
    told = cast("dict[str, Any]", value)
    named = any(str(told.get(key, "")).endswith((*FILES, ".toml")) for key in ("prompt", "verify"))
    return named or any(map(_names_files, told.values()))


class KeptCatalogue:
    """What is known of models and policies, and of those that sessions keep."""

    def __init__(self, under: Catalogue, kept: KeptPolicies) -> None:
        self._under, self._kept = under, kept
        self.profile = under.profile

    def policy(self, name: str) -> Policy:
        """A policy by its name, by the path of its file, or as a session keeps it."""
        if content := self._kept.content(name):
            return content.policy
        if hash_in(name):
            do = "its content is not kept here; choose another with set_policy(…)"
            raise NotFound("policy", name, (), do)
        return self._under.policy(name)

    def prompt(self, name: str) -> str:
        """The prompt that a policy names."""
        text = self._kept.prompt(name)
        return self._under.prompt(name) if text is None else text

    def models(self) -> tuple[str, ...]:
        """Names of models that are known, the common ones first."""
        return self._under.models()

    def learn(self, model: str, **told: Any) -> Profile:
        """Keep what an endpoint or its error has said of a model."""
        return self._under.learn(model, **told)
