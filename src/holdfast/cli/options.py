"""What commands share: the options --store and --json, and the argument SESSION."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast
    from holdfast.model.log import SessionInfo
    from holdfast.ports import Counter

COUNTABLE = 1_000_000_000
"""More than there is of anything that is counted: a larger number on a command line is a slip."""

LAST = "last"
"""Stands for the session that changed last."""


@dataclass(frozen=True)
class Asked:
    """What was said on the command line of every command."""

    store: str | None = None
    json: bool = False

    @property
    def url(self) -> str:
        """Where the store is, whoever said so."""
        from holdfast.engine.settings import settings

        return settings(self.store).store

    @property
    def again(self) -> str:
        """What a command needs that is to go on with the same store."""
        return f" --store {shlex.quote(self.store)}" if self.store else ""

    def open(self, *, make: bool = False, endpoint: Counter | None = None) -> Holdfast:
        """Open the store. The default one is empty where it is absent; `make` brings any about."""
        from holdfast.engine import client
        from holdfast.engine.settings import default_store

        absent = not make and missing(self.url)
        if absent and self.url != str(default_store()):
            self.refuse_absent()
        return client.open("memory:" if absent else self.store, endpoint=endpoint)

    def refuse_absent(self) -> None:
        """Say so where there is no store."""
        from holdfast.errors import InvalidRequest

        if missing(self.url):
            raise InvalidRequest(
                f"there is no store at {self.url}; check --store and HOLDFAST_STORE, or let "
                "`holdfast import` or a program with holdfast.open make it"
            )


def missing(url: str) -> bool:
    """Whether the store at a URL would be a new file."""
    from holdfast.engine.plugins import file_of

    file = file_of(url)
    try:
        if file:
            return not os.stat(file).st_size  # and an empty one is nobody's store yet
    except FileNotFoundError:
        return True
    except OSError:
        pass  # opening it will say what is wrong
    return False


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --store and --json, and hand it what was asked as its first argument."""

    @click.option("--store", metavar="PATH", help="Where the log is kept: a path or a URL.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON, one value a line.")
    @click.pass_context
    @wraps(function)
    def command(ctx: click.Context, store: str | None, as_json: bool, **rest: Any) -> Any:
        before = ctx.find_object(Asked) or Asked()
        return function(Asked(store or before.store, as_json or before.json), **rest)

    return command


def named_store(ctx: click.Context) -> str | None:
    """The store that the command line names, before the command or behind it."""
    asked = ctx.find_object(Asked) or Asked()  # a shell that completes runs no command
    before = ctx.find_root().params.get("store")
    return ctx.params.get("store") or asked.store or before


def completed(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The ids that begin so, for the shell, with their titles; nothing where anything fails."""
    try:
        with Asked(named_store(ctx)).open() as hf:
            return [
                CompletionItem(one.id, help=one.title or None)
                for one in hf.sessions(limit=200)
                if one.id.lower().startswith(begun.lower())
            ]
    except Exception:  # a shell that completes must never see an error
        return []


session_argument = click.argument("session", default=LAST, shell_complete=completed)
"""Without a name, the session that changed last."""


def session_and(name: str, **given: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The arguments [SESSION] NAME: a word alone is NAME, and of the session that changed last."""
    metavar = str(given.pop("metavar", name.upper()))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(*words: Any, session: str | None, **rest: Any) -> Any:
            if session is None:
                raise click.MissingParameter(param_hint=f"'{metavar}'", param_type="argument")
            if rest[name] is None:
                session, rest[name] = LAST, session
            return function(*words, session=session, **rest)

        second = click.argument(name, required=False, metavar=metavar, **given)(command)
        return click.argument(
            "session", required=False, metavar="[SESSION]", shell_complete=completed
        )(second)

    return decorate


def find_with_entry(hf: Holdfast, name: str, entry: str) -> tuple[SessionInfo, str]:
    """A session and the entry that was named with it: a number alone is an entry of the last."""
    from holdfast.errors import NotFound

    try:
        return find(hf, name), entry
    except NotFound:
        if entry or not name.isdigit():
            raise
        return newest(hf), name


def find(hf: Holdfast, name: str) -> SessionInfo:
    """The session of an id, of an unambiguous beginning of one, or the last that changed."""
    return newest(hf) if name == LAST else hf.resolve(name, prefix=True)


def newest(hf: Holdfast) -> SessionInfo:
    """The session that changed last."""
    from holdfast.errors import InvalidRequest

    if found := hf.sessions(limit=1):
        return found[0]
    if hf.sessions(archived=True, limit=1):
        raise InvalidRequest(
            "every session is archived; `holdfast sessions --archived` lists them, name one"
        )
    raise InvalidRequest("there are no sessions yet; `holdfast sessions` says how to begin")
