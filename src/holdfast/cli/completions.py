"""What a shell offers for models, policies, projects and programs; nothing where anything fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from holdfast.cli.options import Asked, named_store

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _offered(find: Callable[[click.Context], Iterable[tuple[str, str]]]) -> Complete:
    """Those of some names, each with a word about it, that begin as what is typed."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            known = dict(find(ctx))
        except Exception:  # a shell that completes must never see an error
            return []
        fitting = (name for name in known if name.lower().startswith(begun.lower()))
        return [CompletionItem(name, help=known[name] or None) for name in fitting]

    return complete


def _store(ctx: click.Context) -> Holdfast:
    return Asked(named_store(ctx)).open()


def _models(ctx: click.Context) -> Iterable[tuple[str, str]]:
    from holdfast.engine.inspect.lookup import talks
    from holdfast.engine.plugins import catalogue

    known = catalogue()
    return [(one.name, one.provider) for one in map(known.profile, known.models()) if talks(one)]


def _policies(ctx: click.Context) -> Iterable[tuple[str, str]]:
    from holdfast.engine.plugins import policies

    return [(name, "") for name in policies()]


def _projects(ctx: click.Context) -> Iterable[tuple[str, str]]:
    from holdfast.cli.ui.format import short_project

    with _store(ctx) as hf:
        return [(short_project(one), one.project) for one in hf.every_session() if one.project]


def _agents(ctx: click.Context) -> Iterable[tuple[str, str]]:
    with _store(ctx) as hf:
        return [(one.agent, "") for one in hf.every_session() if one.agent]


models = _offered(_models)
policies = _offered(_policies)
projects = _offered(_projects)
agents = _offered(_agents)
