"""`holdfast chat`: talk to a model that outlives its window."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.agent_options import Asks, agent_options
from holdfast.cli.cap_options import cap_options
from holdfast.cli.chat.resume import Opener, reachable, resuming, summarised_by, unasked_here
from holdfast.cli.chat.signals import ends_when_told
from holdfast.cli.key_concealment import conceal_keys
from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.agent.count_endpoints import Endpoints
    from holdfast.agent.loop import Agent
    from holdfast.agent.model_choice import ModelTarget
    from holdfast.engine.client import Holdfast, Session


@click.command()
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="Whom to talk to.",
)
@click.option(
    "--policy",
    metavar="NAME",
    shell_complete=completions.policies,
    default="holdfast",
    help="How its context is managed.",
)
@click.option("--allow", metavar="RULE", multiple=True,
              help="A tool it may use without asking; 'shell:git *' for simple commands."
)  # fmt: skip
@resuming
@summarised_by
@agent_options
@cap_options
@common
def chat(
    asked: Asked,
    model: str,
    policy: str,
    again: str,
    fork: bool,
    allow: tuple[str, ...],
    weak_model: str,
    how: Asks,
    caps: dict[str, float | None],
) -> None:
    """Talk to a model in this directory; it may use tools, and nothing said is ever lost."""
    from holdfast.agent.count_endpoints import Endpoints
    from holdfast.agent.model_choice import led, whom
    from holdfast.agent.summariser import Voice
    from holdfast.errors import InvalidRequest

    if asked.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidRequest("chat needs a terminal; `holdfast run -p TEXT` works without one")
    conceal_keys()
    _check_installed()
    counts = Endpoints()
    with (
        ends_when_told(terminal=True),
        closing(Voice()) as voice,
        asked.open(make=True, endpoint=counts) as hf,
    ):
        weak = reachable(weak_model)
        opener = Opener(hf, voice, caps, on_conflict="fork", weak_model=weak, asked=asked, how=how)
        resumed = opener.again(again) if again else None
        chosen = whom(model or (led(resumed) if resumed else ""))

        def begin() -> Session:
            return opener.begun(resumed, chosen.model, how.adjusted(policy), fork=fork)

        _talk(hf, opener, begin, chosen, allow, counts, loaded=resumed is not None)


def _check_installed() -> None:
    """InvalidRequest, with what to install, where something is missing that the chat needs."""
    from importlib.util import find_spec  # nothing is imported before it is used

    from holdfast.errors import InvalidRequest

    for module in ("prompt_toolkit", "httpx2"):
        if find_spec(module) is None:
            raise InvalidRequest(f"chat needs {module}; pip install 'holdfast[chat]'")


def _talk(
    hf: Holdfast,
    opener: Opener,
    begin: Callable[[], Session],
    chosen: ModelTarget,
    allow: tuple[str, ...],
    counts: Endpoints,
    *,
    loaded: bool,
) -> None:
    """Talk in a session; it is begun once there is somebody to talk to."""
    import warnings

    from holdfast.agent.build import agent
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.cli.chat.prompt import quiet
    from holdfast.cli.chat.screen import Screen
    from holdfast.cli.ui.warnings import plainly
    from holdfast.errors import AssumedModel, UnpricedModel

    for told in (AssumedModel, UnpricedModel):
        warnings.simplefilter("ignore", told)  # the chat says it in its own words
    screen = Screen()
    counts.tell = screen.warn

    def make(session: Session, provider: Any, model: str) -> Agent:
        made = agent(
            session, provider, model, allow, onlooker=screen.show,
            ask=lambda call: screen.may(call, made.toolbox), hooks=opener.hooks, **opener.how.given,
        )  # fmt: skip
        made.confirm = screen.agreed
        return made

    talking = closing(Conversation(hf, opener, make, screen))
    with quiet(), plainly(screen.warn), talking as talk:
        talk.reach(chosen)
        talk.take(begin(), chosen)
        if idle := unasked_here(talk.agent.session, opener.weak_model):
            screen.say(idle, "dim")
        talk.hold(loaded=loaded)
