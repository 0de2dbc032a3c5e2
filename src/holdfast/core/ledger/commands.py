"""Commands and how they ended, and the problems that tools ran into.

Rule 1: a problem is resolved once the same command succeeds, or the same file is read or written
        without one. That is inferred, and marked so; nothing else resolves a problem.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from holdfast.core.ledger.outcomes import Ending
from holdfast.model.ledger import Command, Ledger, Pending, Problem

HEAD: Final = 300
"""How much of what a failing tool said is kept."""


def begun(ledger: Ledger, pending: Pending, line: str, rule: str = "") -> Ledger:
    """A command was given."""
    command = Command(
        seq=pending.seq,
        call=pending.call,
        line=line,
        outcome="running",
        tool=pending.name,
        inferred=rule,
    )
    return replace(ledger, commands=(*ledger.commands, command))


def ended(ledger: Ledger, seq: int, pending: Pending, how: Ending) -> Ledger:
    """The commands of a call have ended, as far as its answer tells."""
    place = len(ledger.commands)
    while place and ledger.commands[place - 1].seq >= pending.seq:
        place -= 1
    told = tuple(_ended(one, seq, pending, how) for one in ledger.commands[place:])
    return replace(ledger, commands=(*ledger.commands[:place], *told))


def _ended(command: Command, seq: int, pending: Pending, how: Ending) -> Command:
    if command.call != pending.call or command.ended:
        return command
    rule = " ".join(filter(None, (command.inferred, how.inferred)))
    return replace(command, outcome=how.outcome, exit=how.exit, ended=seq, inferred=rule)


def failed(ledger: Ledger, seq: int, pending: Pending, subject: str, how: Ending) -> Ledger:
    """A tool ran into a problem."""
    problem = Problem(seq=seq, tool=pending.name, subject=subject, text=how.output.strip()[:HEAD])
    return replace(ledger, problems=(*ledger.problems, problem))


def resolved(ledger: Ledger, seq: int, subject: str, rule: str) -> Ledger:
    """What went wrong with this command or file goes well now."""
    if not any(one.subject == subject and not one.resolved for one in ledger.problems):
        return ledger
    told = tuple(
        replace(one, resolved=seq, inferred=rule)
        if one.subject == subject and not one.resolved
        else one
        for one in ledger.problems
    )
    return replace(ledger, problems=told)
