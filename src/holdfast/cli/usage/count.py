"""`holdfast count`: how many tokens a file takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.engine.usage.file_tokens import Measured
    from holdfast.model.profile import Profile
    from holdfast.model.window import Tier

CHUNK = 1 << 20


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="Count as this model does.",
)
@click.option(
    "--tier",
    type=click.Choice(["estimate", "exact", "provider"]),
    help="How to know: quickly, by the model's vocabulary, or by asking its provider.",
)
@common
def count(asked: Asked, file: str, model: str, tier: Tier | None) -> None:
    """Count the tokens of FILE, or of what is piped in with `-`.

    Text, pictures and PDFs. Without --tier the count is exact where the model's vocabulary is
    public, and an estimate where it is not.
    """
    from holdfast.engine.inspect.lookup import meant
    from holdfast.engine.plugins import catalogue
    from holdfast.engine.usage.file_tokens import measure
    from holdfast.model.profile import Profile

    known = catalogue()
    profile = known.profile(model) if model else Profile(name="")
    chosen = tier or ("exact" if profile.tokenizer or not model else "estimate")
    told = measure(_chunks(file), profile, chosen)
    near = meant(known, profile) if model else ()
    if asked.json:
        _emit(told, profile, near)
    else:
        _say(told, profile, near)


def _chunks(file: str) -> Iterator[bytes]:
    """What is in a file, a piece at a time."""
    if file == "-":
        stream = sys.stdin.buffer
        while chunk := stream.read(CHUNK):
            yield chunk
        return
    from holdfast.errors import InvalidRequest

    try:
        with open(file, "rb") as opened:
            while chunk := opened.read(CHUNK):
                yield chunk
    except OSError as error:
        raise InvalidRequest(
            f"{file} cannot be read: {error.strerror}; name a file, or - for a pipe"
        ) from None


def _emit(told: Measured, profile: Profile, near: tuple[str, ...]) -> None:
    from holdfast.cli.ui.terminal import emit

    value: dict[str, Any] = {
        "tokens": told.count.tokens,
        "tier": told.count.tier,
        "error": told.count.error,
        "model": profile.name,
        "vocabulary": _vocabulary(told, profile),
        "kind": told.kind,
        "bytes": told.bytes,
        "assumed": list(profile.assumed),
        "nearest": list(near),
    }
    emit(value)


def _vocabulary(told: Measured, profile: Profile) -> str:
    from holdfast.engine.usage.file_tokens import DEFAULT

    exact = told.count.tier == "exact"
    return (profile.tokenizer or ("" if profile.name else DEFAULT)) if exact else ""


def _say(told: Measured, profile: Profile, near: tuple[str, ...]) -> None:
    from holdfast.cli.ui.format import many, size
    from holdfast.cli.ui.terminal import one_line, say
    from holdfast.cli.usage.models import unknown

    by = {
        "estimate": "by estimate",
        "exact": f"exactly, by {_vocabulary(told, profile)}",
        "provider": f"as {profile.provider} counts",
    }
    off = f", ± {told.count.error:,}" if told.count.error else ""
    about = "about " if told.count.tier == "estimate" else ""
    what = f"{told.kind} of {size(told.bytes)}"
    who = f" for {profile.name}" if profile.name else ""
    said = f"{about}{many(told.count.tokens, 'token')}{who} {by[told.count.tier]}{off}"
    if not profile.name:
        say(one_line(f"{said} · {what}"))
        return
    say(one_line(said))
    share = told.count.tokens / profile.window
    say(f"{what} · {share:.1%} of a window of {profile.window:,}", "dim")
    if line := unknown(profile, near):
        say(line)
