"""`holdfast chat`: talk to a model that outlives its window."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.capping import cap_options
from holdfast.cli.options import Asked, common, find, newest

if TYPE_CHECKING:
    from holdfast.agent.whom import Whom
    from holdfast.engine.doors import BlockingSession, Holdfast


@click.command()
@click.option("-m", "--model", metavar="MODEL", default="", help="Whom to talk to.")
@click.option("--policy", metavar="NAME", default="holdfast", help="How its context is managed.")
@click.option("-c", "--continue", "going_on", is_flag=True, help="Go on with the last session.")
@click.option("-r", "--resume", metavar="SESSION", default="", help="Go on with this session.")
@click.option("--allow", metavar="TOOL", multiple=True,
              help="A tool it may use without asking, as in 'shell:git *'.")  # fmt: skip
@cap_options
@common
def chat(
    asked: Asked,
    model: str,
    policy: str,
    going_on: bool,
    resume: str,
    allow: tuple[str, ...],
    caps: dict[str, float | None],
) -> None:
    """Talk to a model in this directory; it may use tools, and nothing said is ever lost."""
    from holdfast.agent.voice import Voice
    from holdfast.agent.whom import whom
    from holdfast.errors import Misuse

    if asked.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("chat needs a terminal; `holdfast run -p TEXT` works without one")
    with closing(Voice()) as voice, asked.open(make=True) as hf:
        resumed = _resumed(hf, going_on, resume, voice)
        chosen = whom(model or (resumed.info.model if resumed else ""))
        session = resumed or hf.session(
            model=chosen.model, directory=os.getcwd(), policy=policy, summariser=voice
        )
        session.capped(**caps)
        with closing(chosen.open()) as provider:
            _talk(hf, session, provider, chosen, allow, loaded=resumed is not None)


def _resumed(hf: Holdfast, going_on: bool, resume: str, voice: Any) -> BlockingSession | None:
    if not (resume or going_on):
        return None
    return hf.session((find(hf, resume) if resume else newest(hf)).id, summariser=voice)


def _talk(
    hf: Holdfast,
    session: BlockingSession,
    provider: Any,
    chosen: Whom,
    allow: tuple[str, ...],
    *,
    loaded: bool,
) -> None:
    import warnings

    from holdfast.agent.making import agent
    from holdfast.cli.conversation import Conversation
    from holdfast.cli.screen import Screen
    from holdfast.errors import AssumedModel, UnpricedModel

    for told in (AssumedModel, UnpricedModel):
        warnings.simplefilter("ignore", told)  # the chat says it in its own words
    screen = Screen()
    made = agent(session, provider, chosen.model, allow, onlooker=screen.show, ask=screen.may)
    Conversation(hf, made, screen, chosen).hold(loaded=loaded)
