"""What can be typed about instruction files and skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation

NONE = "no instruction file is read here"


def instructions(talk: Conversation, rest: str) -> None:
    """Which instruction files and skills there are, and which act."""
    from holdfast.cli.knowledge.instructions import summary, waiting
    from holdfast.cli.ui.terminal import neutral

    made = talk.agent.instructions
    if made is None:
        talk.screen.say(NONE)
        return
    made.look()
    for one in (*made.files, *made.skills.found):
        state = "" if one.acts else f"{one.state}: "
        kind = f"{one.said}, {one.tokens:,} tokens"
        talk.screen.say(f"{one.path} ({kind}) · {state}{one.why}", "" if one.acts else "dim")
    talk.screen.say(summary(made) or "nothing acts", "dim")
    if told := waiting(made, "/trust shows what they say"):
        talk.screen.say(neutral(told), "yellow")


def trust(talk: Conversation, rest: str) -> None:
    """Show what files say that wait for an approval, or those that are named, and ask."""
    import shlex

    from holdfast.cli.knowledge.trust import contents, outcome, present, question, settle

    made = talk.agent.instructions
    if made is None:
        talk.screen.say(NONE)
        return
    made.look()
    made.skills.look()
    shown = contents(made, shlex.split(rest))
    present(made, shown, talk.screen.say)
    if shown and talk.screen.agreed(question(shown)):
        settle(made, shown, "trusted")
    talk.screen.say(outcome(made, shown))
