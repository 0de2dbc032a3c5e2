"""Commands that say how the agent asks its model, or take it back some turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.ui.format import many

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation


def think(talk: Conversation, rest: str) -> None:
    """How long the model may think; alone, how long it may now."""
    from holdfast.agent.request_options import EFFORTS, USUAL_THINKING, thinking_of

    options = dict(talk.agent.options)
    if rest in EFFORTS:
        options["effort"] = rest
    elif rest:
        options["thinking"] = thinking_of(rest)
    talk.agent.options = options
    tokens, effort = options.get("thinking"), options.get("effort", "")
    if tokens is None and not effort:
        talk.screen.say(
            f"as the provider has it; /think on is {USUAL_THINKING:,} tokens, /think N so many, "
            f"/think off none, /think {' or '.join(EFFORTS)} an effort"
        )
        return
    length = "as the provider has it" if tokens is None else f"{many(tokens, 'token')} at most"
    talk.screen.say(f"thinking: {length}{f', effort {effort}' if effort else ''}")


def plan(talk: Conversation, rest: str) -> None:
    """Have the model look only and answer with a plan; off lets it work again."""
    talk.agent.planning = talk.opener.how.plan = rest != "off"
    talk.screen.say(
        "it looks only, and answers with a plan; /plan off lets it work"
        if talk.agent.planning
        else "it works again"
    )


def back(talk: Conversation, rest: str) -> None:
    """Take back the last turns, or so many; files stay as they are."""
    from holdfast.errors import InvalidRequest

    if rest and not (rest.isascii() and rest.isdigit() and int(rest)):
        raise InvalidRequest(f"/back {rest}: say how many turns, such as /back 2")
    turns = int(rest or 1)
    talk.agent.session.rewind_turns(turns)
    talk.screen.say(
        f"{many(turns, 'turn')} taken back; files are as they were, and /undo brings them back"
    )
