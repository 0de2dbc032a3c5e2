"""`holdfast models`: what is known of models, and what is only assumed."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.model.profile import Price, Profile

NANO = 1_000_000_000
BUCKETS = ("input", "output", "cache_read", "cache_write", "cache_write_long")


@click.command()
@click.argument("name", required=False, default="", shell_complete=completions.models)
@click.option("--all", "everything", is_flag=True, help="Those that no key is set for, too.")
@common
def models(asked: Asked, name: str, everything: bool) -> None:
    """Show what a model holds, costs and can do; without NAME, list those there is a key for.

    `holdfast models pull` fetches the small model that chat runs on when no key is set.
    """
    if name == "pull":
        _pull(asked)
        return
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.engine.inspect.lookup import meant, talks
    from holdfast.engine.plugins import catalogue

    known, rest = catalogue(), 0
    here = _here()
    if name:
        found = [known.profile(name)]
    else:
        own = [known.profile(one) for one in here]
        others = (known.profile(one) for one in known.models() if one not in here)
        listed = [one for one in others if talks(one)]
        reached = listed if everything else within_reach(listed)
        found, rest = [*own, *reached], len(listed) - len(reached)
    if asked.json:
        for one in found:
            at = here.get(one.name, "")
            emit({**as_value(one), "nearest": list(meant(known, one)), "server": at})
    elif name:
        _card(found[0])
        if name in here:
            say(f"The server at {here[name]} on this machine has it: holdfast chat -m {name}")
        elif told := unknown(found[0], meant(known, found[0])):
            say(told)
    else:
        _list(found, here, rest)


def _here() -> dict[str, str]:
    """The models of servers that run on this machine, each with where its server is."""
    from holdfast.agent.model_choice import local, talkative

    servers = reversed(local(os.environ))
    return {name: one.url for one in servers for name in talkative(one.models)}


def _list(found: list[Profile], here: dict[str, str], rest: int) -> None:
    from holdfast.cli.ui.terminal import console, say

    if found:
        console().print(_table(found))
        say("Prices in dollars for a million tokens. See one with  holdfast models NAME", "dim")
    for url in dict.fromkeys(here.values()):
        names = [name for name, at in here.items() if at == url]
        say(
            f"At {url} on this machine: {', '.join(names)}. Talk to one with  holdfast chat -m NAME"
        )
    if rest:
        say(_left_out(found, here, rest), "dim")


def within_reach(found: list[Profile]) -> list[Profile]:
    """Those of a maker that a key is set for, and those that the user's own file describes."""
    from holdfast.agent.model_choice import KEYS
    from holdfast.files import config_home

    keyed = {name for name, keys in KEYS.items() if any(map(os.environ.get, keys))}
    file = config_home() / "profiles.toml"
    own = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    return [one for one in found if one.provider in keyed or one.name in own]


def _left_out(found: list[Profile], here: dict[str, str], rest: int) -> str:
    """What is not listed, and how it is."""
    if len(found) > len(here):
        return f"{rest} more are known, of makers that no key is set for: holdfast models --all"
    return (
        "No key is set: ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY. "
        f"`holdfast models --all` lists the {rest} models that are known, and "
        "`holdfast models pull` fetches a small one that needs none."
    )


def _pull(asked: Asked) -> None:
    """Fetch the small model, with a bar while it comes."""
    from rich.progress import Progress

    from holdfast.cli.ui.terminal import console, emit, say
    from holdfast.engine.plugins import pull_weights

    with Progress(console=console(error=True), transient=True) as bar:
        task = bar.add_task("fetching the model", total=None)
        file = pull_weights(lambda done, whole: bar.update(task, completed=done, total=whole))
    if asked.json:
        emit({"model": str(file)})
    else:
        say(f"The model is at {file}; holdfast chat uses it where no key is set.")


def unknown(profile: Profile, near: tuple[str, ...]) -> str:
    """What is said of a model that nobody knows, with what is assumed; empty for any other."""
    from holdfast.engine.inspect.lookup import is_known

    if is_known(profile):
        return ""
    times = "" if profile.ratio == 1 else f"{profile.ratio:g} × "
    counts = profile.tokenizer or f"{times}o200k_base"
    listed = "`holdfast models --all` lists what is known."
    hint = f"Did you mean {_either(near)}?" if near else listed
    return (
        f"Nobody here knows the model {profile.name}: assumed are a window of "
        f"{profile.window:,} tokens, and counts by {counts}. {hint}"
    )


def _either(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def as_value(profile: Profile) -> dict[str, Any]:
    """A profile as JSON: every key, always; prices in dollars for a million tokens."""
    names = (
        "name", "provider", "window", "input_limit", "output_limit", "tokenizer", "ratio",
        "price_version", "cache_seconds", "cache_minimum", "request_bytes", "most_images",
        "most_tools", "page_tokens",
    )  # fmt: skip
    return {
        **{name: getattr(profile, name) for name in names},
        "prices": [_dollars(price) for price in profile.prices],
        "tiers": profile.tiers,
        "abilities": sorted(profile.abilities),
        "assumed": list(profile.assumed),
    }


def _dollars(price: Price) -> dict[str, float | int]:
    return {"above": price.above, **{name: getattr(price, name) / NANO for name in BUCKETS}}


def _money(price: int) -> str:
    return f"{price / NANO:.4f}".rstrip("0").rstrip(".") if price else "0"


def _short(tokens: int) -> str:
    """A number of tokens in three or four digits: 8192, 128k, 1.05M."""
    if tokens < 10_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1000:.0f}k"
    return f"{tokens / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"


def _table(found: list[Profile]) -> Table:
    from rich.table import Table

    from holdfast.cli.ui.terminal import NOTHING, fitted

    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("model", style="cyan", no_wrap=True)
    for title in ("window", "output", "in", "out", "cached"):
        made.add_column(title, justify="right", no_wrap=True)
    made.add_column("vocabulary", no_wrap=True)
    for one in found:
        prices = [(each.input, each.output, each.cache_read) for each in one.prices[:1]]
        made.add_row(
            fitted(one.name, 32), _short(one.window), _short(one.output_limit),
            *(map(_money, prices[0]) if prices else (NOTHING,) * 3),
            one.tokenizer or NOTHING,
        )  # fmt: skip
    return made


def _card(profile: Profile) -> None:
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.terminal import NOTHING, neutral, print_table

    card = Table.grid(padding=(0, 2, 0, 0))
    card.add_column(style="dim", no_wrap=True, min_width=9)
    card.add_column(overflow="fold")
    for title, words in _lines(profile):
        card.add_row(title, Text(neutral(words or NOTHING)))
    print_table(card)


def _lines(profile: Profile) -> list[tuple[str, str]]:
    from holdfast.cli.ui.format import lasting, number, size

    limits = [f"{number(profile.window)} tokens"]
    if profile.input_limit:
        limits.append(f"a prompt {number(profile.input_limit)}")
    limits.append(f"a reply {number(profile.output_limit)}")
    kept = lasting(profile.cache_seconds * 1000)
    request = [
        size(profile.request_bytes) if profile.request_bytes else "",
        f"{number(profile.most_images)} pictures" if profile.most_images else "",
        f"{number(profile.most_tools)} tools" if profile.most_tools else "",
    ]
    return [
        ("model", f"{profile.name} · {profile.provider or 'nobody knows whose'}"),
        ("window", " · ".join(limits)),
        *(("prices", _priced(price)) for price in profile.prices),
        ("", f"dollars for a million tokens, from {profile.price_version}") if profile.prices
        else ("prices", "not known"),
        *((("tiers", _tiers(profile)),) if profile.tiers else ()),
        ("counts", _counts(profile)),
        ("abilities", ", ".join(sorted(profile.abilities))),
        ("cache", f"{kept}, from {number(profile.cache_minimum)} tokens on"),
        ("request", " · ".join(filter(None, request))),
        ("assumed", ", ".join(profile.assumed) or "nothing"),
    ]  # fmt: skip


def _tiers(profile: Profile) -> str:
    """What other ways of serving cost, in per cent of the usual price."""
    return " · ".join(f"{tier} {percent} %" for tier, percent in profile.tiers.items())


def _priced(price: Price) -> str:
    above = f"above {price.above:,} tokens: " if price.above else ""
    return (
        f"{above}in {_money(price.input)} · out {_money(price.output)} · cache read "
        f"{_money(price.cache_read)}, write {_money(price.cache_write)}, "
        f"for an hour {_money(price.cache_write_long or price.cache_write)}"
    )


def _counts(profile: Profile) -> str:
    if profile.tokenizer:
        return f"exactly, by {profile.tokenizer}"
    asked = "; its provider can be asked" if profile.can("token_counting") else ""
    return f"by estimate, {profile.ratio:g} × o200k_base until calls have told{asked}"
