"""`holdfast run`: one task for the agent, without anybody to ask.

It ends with 0 where the task is done, with 3 where it was done without calls that were not
allowed, with 4 where the reply is not whole, with 130 where somebody interrupted, with 143 or 129
where SIGTERM or SIGHUP ended it, and else with 1; with JSON, the last line says which.
"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.agent_options import Asks, agent_options
from holdfast.cli.cap_options import cap_options
from holdfast.cli.chat.resume import (
    Opener,
    loaded,
    reachable,
    resuming,
    summarised_by,
    unasked_here,
)
from holdfast.cli.chat.run_output import Told, unbegun
from holdfast.cli.chat.signals import ends_when_told
from holdfast.cli.key_concealment import conceal_keys
from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.cli.chat.run_output import Progress
    from holdfast.engine.client import Holdfast, Session
    from holdfast.model.log import Entry


TRUST = "`holdfast trust` shows what they say, and --trust follows them this once"


@click.command()
@click.option("-p", "--prompt", metavar="TEXT", help="What to do; `-` reads it from a pipe.")
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="Whom to ask.",
)
@click.option(
    "--policy",
    metavar="NAME",
    shell_complete=completions.policies,
    default="holdfast",
    help="How its context is managed.",
)
@click.option("--allow", metavar="RULE", multiple=True,
              help="A tool it may use: write, edit, shell; 'shell:git *' for simple commands."
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Let it follow the project's files, approved or not.")
@click.option("--stream-json", is_flag=True, help="One JSON value for everything that happens.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing while it works; errors are said.")
@resuming
@summarised_by
@agent_options
@cap_options
@common
def run(
    asked: Asked,
    prompt: str | None,
    model: str,
    policy: str,
    again: str,
    fork: bool,
    allow: tuple[str, ...],
    trust: bool,
    stream_json: bool,
    quiet: bool,
    weak_model: str,
    how: Asks,
    caps: dict[str, float | None],
) -> None:
    """Have the agent do one task in this directory; what is not allowed is denied."""
    from holdfast.agent.api_keys import check_key
    from holdfast.agent.model_choice import led, whom
    from holdfast.agent.summariser import Voice

    conceal_keys()
    text, as_json = _prompt(prompt), asked.json or stream_json
    progress = _progress(quiet=quiet, as_json=as_json)
    with ends_when_told(), closing(Voice()) as voice, _store(asked, progress, trust) as hf:
        opener = Opener(hf, voice, caps, weak_model=reachable(weak_model), how=how)
        resumed = opener.again(again) if again else None
        with unbegun(as_json=as_json):
            chosen = whom(model or (led(resumed) if resumed else ""))
            check_key(chosen)
            progress.note(chosen.why)
            provider = chosen.open(lambda seconds: progress.loading(chosen.model, seconds))
        with closing(provider):
            session = opener.begun(resumed, chosen.model, how.adjusted(policy), fork=fork)
            progress.note(unasked_here(session, weak_model))
            told = Told(session, chosen.model, progress, as_json=as_json, stream=stream_json)
            if resumed:
                told.loaded(loaded(session, chosen.model))
            with told.ending():
                told.done(_last(opener, session, provider, chosen.model, allow, told, text))


def _progress(*, quiet: bool, as_json: bool) -> Progress:
    """Whom to tell how the work goes; where it is quiet, no assumption is told of either."""
    import warnings

    from holdfast.cli.chat.run_output import Progress
    from holdfast.errors import AssumedModel

    if quiet:
        warnings.simplefilter("ignore", AssumedModel)
    return Progress(quiet=quiet or as_json)


def _store(asked: Asked, progress: Progress, trust: bool) -> Holdfast:
    """The store, and what counts for providers; it says where one of them cannot."""
    from holdfast.agent.count_endpoints import Endpoints

    counts = Endpoints()
    counts.tell = lambda words: progress.line(words, "dim", whole=True)
    opened = asked.open(make=True, endpoint=counts)
    opened.engine.trust = "always" if trust else ""
    return opened


def _last(
    opener: Opener,
    session: Session,
    provider: Any,
    model: str,
    allow: tuple[str, ...],
    told: Told,
    text: str,
) -> Entry | None:
    from holdfast.agent.build import agent
    from holdfast.cli.knowledge.instructions import waiting

    made = agent(session, provider, model, allow, headless=True, onlooker=told.happening,
                 hooks=opener.hooks, **opener.how.given)  # fmt: skip
    if made.instructions and (words := waiting(made.instructions, TRUST)):
        told.waits(words)
    return made.turn(text)


def _prompt(told: str | None) -> str:
    from holdfast.errors import InvalidRequest

    text = sys.stdin.read() if told is None or told == "-" else told
    if not text.strip():
        raise InvalidRequest("there is nothing to do; say it with -p, or pipe it in")
    return text
