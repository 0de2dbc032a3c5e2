"""`holdfast run`: one task for the agent, without anybody to ask."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.capping import cap_options
from holdfast.cli.options import Asked, common, find, newest

if TYPE_CHECKING:
    from holdfast.agent.loop import Happening
    from holdfast.engine.doors import BlockingSession, Holdfast


@click.command()
@click.option("-p", "--prompt", metavar="TEXT", help="What to do; `-` reads it from a pipe.")
@click.option("-m", "--model", metavar="MODEL", default="", help="Whom to ask.")
@click.option("--policy", metavar="NAME", default="holdfast", help="How its context is managed.")
@click.option("-c", "--continue", "going_on", is_flag=True, help="Go on with the last session.")
@click.option("-r", "--resume", metavar="SESSION", default="", help="Go on with this session.")
@click.option("--allow", metavar="TOOL", multiple=True,
              help="A tool it may use: write, edit, shell, or as in 'shell:git *'.")  # fmt: skip
@click.option("--stream-json", is_flag=True, help="One JSON value for everything that happens.")
@cap_options
@common
def run(
    asked: Asked,
    prompt: str | None,
    model: str,
    policy: str,
    going_on: bool,
    resume: str,
    allow: tuple[str, ...],
    stream_json: bool,
    caps: dict[str, float | None],
) -> None:
    """Have the agent do one task in this directory; what is not allowed is denied."""
    from holdfast.agent.making import agent
    from holdfast.agent.voice import Voice
    from holdfast.agent.whom import whom
    from holdfast.cli.terminal import console, emit, neutral

    text = _prompt(prompt)
    with closing(Voice()) as voice, asked.open(make=True) as hf:
        session = _session(hf, model, policy, going_on, resume, voice).capped(**caps)
        chosen = whom(model or session.info.model)
        with closing(chosen.open()) as provider:
            seen = {"onlooker": _told} if stream_json else {}
            made = agent(session, provider, chosen.model, allow, **seen)
            last = made.turn(text)
    said = getattr(last.body, "text", "") if last else ""
    if stream_json or asked.json:
        emit({"type": "result", "session": session.id, "model": chosen.model, "result": said,
              "cost_usd": session.cost, "entries": session.info.head})  # fmt: skip
    else:
        console().print(neutral(said), soft_wrap=True)


def _prompt(told: str | None) -> str:
    from holdfast.errors import Misuse

    text = sys.stdin.read() if told is None or told == "-" else told
    if not text.strip():
        raise Misuse("there is nothing to do; say it with -p, or pipe it in")
    return text


def _session(
    hf: Holdfast, model: str, policy: str, going_on: bool, resume: str, voice: Any
) -> BlockingSession:
    from holdfast.agent.whom import whom

    if resume or going_on:
        return hf.session((find(hf, resume) if resume else newest(hf)).id, summariser=voice)
    named = whom(model).model
    return hf.session(model=named, directory=os.getcwd(), policy=policy, summariser=voice)


def _told(what: Happening) -> None:
    """One line of JSON for something that happened."""
    from holdfast.cli.terminal import emit

    told: dict[str, Any] = {"type": what.kind}
    if what.delta:
        told["text"] = what.delta.text
        if not what.delta.text:
            return
    if what.call:
        told |= {"tool": what.call.name, "call": what.call.id, "input": what.call.input}
    if what.result:
        told |= {"output": what.result.output, "error": what.result.error}
    if what.entry:
        told |= {"entry": what.entry.id, "text": getattr(what.entry.body, "text", "")}
    emit(told)
