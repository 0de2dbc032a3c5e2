"""`/tokens`: what the next call takes, what the last one took, and what a file would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.context.fullness import of_window
from holdfast.cli.ui.format import many, number

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.engine.inspect.explain import Explained


def tokens(talk: Conversation, rest: str) -> None:
    """How many tokens the conversation takes; with names, about how many those files would."""
    if rest:
        _files(talk, rest)
        return
    session = talk.agent.session
    told, shot = talk.agent.would_send(talk.whom.model), session.snapshot()
    talk.screen.say(f"next call   {of_window(told.tokens, told.window)}{_how(told)}", "bold")
    if last := shot.last_call_usage:
        talk.screen.say(
            f"last call   {number(last.input_tokens + last.cache_creation_tokens)} in · "
            f"{number(last.cache_read_tokens)} read from the cache · "
            f"{number(last.output_tokens)} out"
        )
    talk.screen.say(
        f"session     {number(shot.total_input_tokens)} in · {number(shot.total_output_tokens)} out"
    )
    for path, read_only in talk.agent.files.named():
        size = number(talk.agent.files.size(path))
        talk.screen.say(f"about {size:>9}   {path}{' (read-only)' if read_only else ''}")
    talk.screen.say("/context says what the next call consists of; /tokens PATH estimates a file",
                    "dim")  # fmt: skip


def _how(told: Explained) -> str:
    tiers = {"estimate": "by estimate", "exact": "counted here", "provider": "counted by its maker"}
    return f", {tiers.get(told.count.tier, told.count.tier)}"


def _files(talk: Conversation, rest: str) -> None:
    from holdfast.cli.chat.slash import counted

    found = counted(talk, rest)
    for path, size in found:
        talk.screen.say(f"about {number(size):>9}   {path}")
    if len(found) > 1:
        whole = number(sum(size for _, size in found))
        talk.screen.say(f"about {whole:>9}   {many(len(found), 'file')}", "bold")
