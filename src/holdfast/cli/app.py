"""The frame around every command: nearest matches, and errors as one message with what to do."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar, NoReturn

import click

from holdfast.cli.ui.format import runnable
from holdfast.cli.ui.terminal import be_tolerant, console, neutral
from holdfast.cli.ui.warnings import plainly
from holdfast.core.search.nearest import nearest
from holdfast.errors import Ambiguous, HoldfastError, InvalidRequest, NotFound

ENDLESS = 1 << 16
"""More letters than a sentence has: none is cut."""

INTERRUPTED = 130
"""How a shell counts a program that was stopped with Ctrl-C."""


ELSEWHERE = {
    "list": "sessions", "ls": "sessions", "log": "show SESSION --all", "cat": "show SESSION",
    "dump": "export SESSION --to portable",
    "find": "search", "grep": "search", "delete": "erase", "remove": "erase", "rm": "erase",
    "check": "doctor", "repair": "doctor --repair", "tokens": "count",
    "summarise": "compact", "summarize": "compact", "compress": "compact", "revert": "undo",
    "facts": "ledger", "expand": "recall", "policies": "policy list", "pins": "pin SESSION --list",
}  # fmt: skip
"""What people try, and what it is called here."""


class Commands(click.Group):
    """A group that knows the nearest command, and how each error ends."""

    elsewhere: ClassVar[Mapping[str, str]] = ELSEWHERE

    def __init__(
        self, *told: Any, places: Mapping[str, tuple[str, str]] | None = None, **named: Any
    ) -> None:
        super().__init__(*told, **named)
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._places, *self.commands]  # in the order people meet them

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return super().get_command(ctx, cmd_name)
        module, _, name = self._places[cmd_name][0].partition(":")
        return getattr(import_module(f"holdfast.cli.{module}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, each with its first sentence, whole."""
        rows = [(name, line) for name, (_, line) in self._places.items()]
        rows += [(name, one.get_short_help_str(ENDLESS)) for name, one in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args else ""
        if word and not word.startswith("-") and self.get_command(ctx, word) is None:
            near = nearest(word, self.list_commands(ctx))
            meant = self.elsewhere.get(word) or (near[0] if near else "")
            hint = f" Did you mean {meant!r}?" if meant else ""
            raise click.UsageError(f"There is no command {word!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        words = list(sys.argv[1:] if args is None else args)
        if _closed():
            sys.exit(ending(InvalidRequest(CLOSED), as_json="--json" in words))
        be_tolerant()
        try:
            with plainly():
                done = super().main(words, prog_name, complete_var, False, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_the_pipe()
        except (Exception, KeyboardInterrupt) as error:
            if _is_full(error):
                _let_go()
            if os.environ.get("HOLDFAST_DEBUG") and not isinstance(error, click.ClickException):
                raise
            done = ending(error, as_json="--json" in words)
        sys.exit(done if isinstance(done, int) else 0)


def _leave_the_pipe() -> NoReturn:
    """Whoever was reading has gone: so do we, without a word, also when Python shuts down."""
    _let_go()
    sys.exit(1)


def _let_go() -> None:
    """Write nothing more, not even what is still held when Python shuts down."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


CLOSED = "the output is closed, so nothing was done; send it somewhere, be it to /dev/null"


def _closed() -> bool:
    """Whether nobody can be told anything; what is closed besides is put to rest."""
    for name, how in (("stdin", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, how, encoding="utf-8"))  # noqa: SIM115 - for good
    return sys.stdout is None


def _is_full(error: BaseException) -> bool:
    """Whether what was to be written found no place; an error about a file names the file."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return isinstance(error, OSError) and error.errno in full and error.filename is None


def ending(error: BaseException, *, as_json: bool = False) -> int:
    """Say what went wrong and what to do; the exit code."""
    if any(isinstance(one, KeyboardInterrupt) for one in (error, error.__context__)):
        return INTERRUPTED
    what, do = words_of(error)
    if as_json:
        told = {"error": what, "do": do, "kind": type(error).__name__}
        if isinstance(error, NotFound):
            told["nearest"] = list(error.nearest)  # type: ignore[assignment]
        sys.stderr.write(f"{json.dumps(told)}\n")
    else:
        report(what, do)
    return error.exit_code if isinstance(error, click.ClickException) else 1


def report(what: str, do: str) -> None:
    """An error and its remedy, as people read them."""
    from rich.text import Text

    screen = console(error=True)
    wide = not screen.is_terminal
    screen.print(Text.assemble(("error: ", "bold red"), neutral(what)), soft_wrap=wide)
    if do:
        screen.print(Text.assemble(("   do: ", "bold green"), neutral(do)), soft_wrap=wide)


def words_of(error: BaseException) -> tuple[str, str]:
    """What happened, and what to do about it."""
    if isinstance(error, NotFound) and not isinstance(error, Ambiguous):
        return _words_of_unknown(error)
    if isinstance(error, HoldfastError):
        what, mark, do = runnable(str(error)).rpartition("; ")
        return (what, do) if mark else (do, "")
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "holdfast"
        return error.format_message(), runnable(f"`{command} --help` shows what it takes")
    if isinstance(error, click.ClickException):
        return error.format_message(), ""
    if _is_full(error):
        why = getattr(error, "strerror", "")
        return f"not all could be written: {why}", "make room, or send the output elsewhere"
    if isinstance(error, (click.Abort, EOFError)):
        return "no answer came, so nothing was done", "answer, or say --yes"
    return (
        f"this should not have happened: {type(error).__name__}: {error}",
        "run it again with HOLDFAST_DEBUG=1 to see where, and report it",
    )


def _words_of_unknown(error: NotFound) -> tuple[str, str]:
    near = f"did you mean {' or '.join(error.nearest)}?" if error.nearest else ""
    do = " ".join(filter(None, (near, runnable(error.do))))
    return f"there is no {error.kind} {error.name!r}", do
