"""Holding a conversation: what is typed is said, done or looked up, until somebody leaves."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.cli.app import words_of
from holdfast.cli.chat.last_said import show_last
from holdfast.cli.chat.mentions import mentioned, taken_along, without_marks
from holdfast.cli.chat.resume import how_to_go_on, in_advance, in_words
from holdfast.cli.chat.resume import loaded as brought
from holdfast.cli.chat.signals import interrupts_wait, told_to_end
from holdfast.cli.context.fullness import percent
from holdfast.cli.ui.format import in_chat, loading, many, size
from holdfast.cli.ui.terminal import fitted, neutral
from holdfast.cli.usage.cost import spent_in_words
from holdfast.model.spending import Caps

if TYPE_CHECKING:
    from holdfast.agent.loop import Agent
    from holdfast.agent.model_choice import ModelTarget
    from holdfast.cli.chat.resume import Opener
    from holdfast.cli.chat.screen import Screen
    from holdfast.cli.chat.status_line import Script
    from holdfast.engine.client import Holdfast, Session
    from holdfast.errors import Capped
    from holdfast.model.rate_limits import Limits
    from holdfast.model.search import Hit

GAUGE = 10
"""How many characters the gauge of the window has."""


_SMALL = (
    "This is a small model on this machine: it shows how everything works, not how well. For a "
    "bigger one set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, name a GGUF file with -m, "
    "or a server with OPENAI_BASE_URL."
)


Make = Callable[["Session", Any, str], "Agent"]
"""Makes an agent for a session, a provider and a model."""


class Conversation:
    """One person, one agent, one terminal."""

    agent: Agent
    whom: ModelTarget

    def __init__(self, hf: Holdfast, opener: Opener, make: Make, screen: Screen) -> None:
        self.hf = hf
        self.opener = opener
        self.screen = screen
        self._make = make
        self._open: tuple[ModelTarget, Any] | None = None
        self._used, self._gauge = "", ""
        self._limits: Limits | None = None
        self._script: Script | None = None
        self.typed_again = ""
        """What a rewind has taken back: it stands in the next line, to be said otherwise."""
        self.found: tuple[Hit, ...] = ()
        """What /search has found last."""

    def take(self, session: Session, whom: ModelTarget) -> None:
        """Go on in a session, with a model; one that is left with nothing in it is not kept."""
        provider = self._provider(whom)
        self._leave()
        self.agent = self._make(session, provider, whom.model)
        self.screen.outputs.clear()

    def _leave(self) -> None:
        if hasattr(self, "agent"):
            self.opener.left(self.agent.session.info)

    def speak_to(self, whom: ModelTarget) -> None:
        """Go on with another model, and all else as it is."""
        self.agent.provider, self.agent.giving["model"] = self._provider(whom), whom.model

    def reach(self, whom: ModelTarget) -> None:
        """Open whom to talk to; an error where that cannot be, and nothing has been changed."""
        self._provider(whom)

    def _provider(self, whom: ModelTarget) -> Any:
        from holdfast.agent.api_keys import check_key

        if self._open is None or self._open[0] != whom:
            check_key(whom)
            try:
                opened = whom.open(lambda seconds: self.screen.busy(loading(whom.model, seconds)))
            finally:
                self.screen.rest()
            self._let_go()
            self._open = (whom, opened)
        self.whom, self._used = whom, ""
        return self._open[1]

    def take_typed_again(self) -> str:
        """What the next line begins with, once."""
        text, self.typed_again = self.typed_again, ""
        return text

    def close(self) -> None:
        """Let go of the provider, and of a session in which nothing was said."""
        self._let_go()
        self._leave()

    def _let_go(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def hold(self, *, loaded: bool) -> None:
        """Talk until an empty Ctrl-D, /exit, or the terminal goes away."""
        self.greet(loaded=loaded)
        self.screen.say(
            "/help shows what else can be typed; Ctrl-C interrupts, Ctrl-D leaves", "dim"
        )
        self._prune()
        prompt = self._prompt()
        try:
            self.listen(prompt)
        finally:
            if self._script:
                self._script.close()
        session = self.agent.session
        self.screen.say(how_to_go_on(self.hf, session.info, self.opener.asked.again), "dim")

    def _prune(self) -> None:
        """Let go of what files held long ago, and say so."""
        from holdfast.errors import HoldfastError

        with suppress(HoldfastError):  # it is tried again the next time
            gone = self.hf.prune_checkpoints()
            if gone.changes:
                told = f"{many(gone.changes, 'change')} of files, {size(gone.bytes)}"
                self.screen.say(f"let go of old checkpoints: {told}", "dim")

    def listen(self, prompt: Callable[[], str]) -> None:
        """Do what is typed at a prompt, until that has an EOFError."""
        from holdfast.agent.keep_warm import Idle
        from holdfast.cli.chat.prompt import Recalled

        leaving = False
        while not told_to_end():
            text = ""
            try:
                with Idle(self.agent.session, self.whom.open):
                    text = prompt()
                leaving = False
                if text.strip() and not self._interruptible(text.strip()):
                    break
                self._changed()
            except KeyboardInterrupt as struck:
                if leaving and not text.strip() and not isinstance(struck, Recalled):
                    break
                leaving = self._struck(struck, text.strip())
            except EOFError:
                break

    def _struck(self, struck: KeyboardInterrupt, text: str) -> bool:
        """Say what an interrupt has stopped; True where that is nothing."""
        from holdfast.cli.chat.prompt import Recalled

        if text:  # it struck before that was done, or as it ended
            self.screen.say("interrupted; what was typed may not have been sent", "yellow")
        elif isinstance(struck, Recalled):
            self.screen.say("interrupted; what was typed was not sent", "yellow")
        elif not told_to_end():
            self.screen.say("Ctrl-C again leaves", "dim")
            return True
        return False

    def _interruptible(self, text: str) -> bool:
        """Do what was typed; nothing that goes wrong ends the conversation. False to leave."""
        try:
            return self._heard(text)
        except KeyboardInterrupt:
            self.screen.rest()
            self.screen.say("interrupted; nothing was changed", "yellow")
        except Exception as error:
            self._wrong(error)
        return True

    def _wrong(self, error: Exception) -> None:
        """Say what went wrong, in one line; where it did as well, for whoever looks for that."""
        what, do = words_of(error)
        with suppress(OSError):  # the terminal itself may be what went wrong
            self.screen.say(f"error: {'; '.join(filter(None, (what, do)))}", "red")
            if os.environ.get("HOLDFAST_DEBUG"):
                self.screen.say("".join(traceback.format_exception(error)), "dim")

    def greet(self, *, loaded: bool) -> None:
        """Say who is talked to, where, and what was loaded."""
        session, here = self.agent.session, self.agent.toolbox.root.path
        self.screen.say(f"holdfast · {self.whom.model} · {here}", "bold")
        if self.whom.why:
            self.screen.say(self.whom.why, "dim")
        if self.whom.provider == "embedded":
            self.screen.say(_SMALL, "dim")
        if loaded:
            self.screen.busy("loading…")
            told = brought(session, self.whom.model)
            self.screen.say(in_words(told), "dim")
            show_last(self.screen, session)
            if ahead := in_advance(told):
                self.screen.say(ahead, "yellow")
        self._say_instructions()
        if session.caps != Caps() and not session.catalogue.profile(self.whom.model).prices:
            told = f"no price is known of {self.whom.model}, so no cap holds for it"
            self.screen.say(told, "yellow")

    def _say_instructions(self) -> None:
        """Say how many instruction files act, and which wait for an approval."""
        from holdfast.cli.knowledge.instructions import summary, waiting

        if made := self.agent.instructions:
            if told := summary(made):
                self.screen.say(told, "dim")
            if told := waiting(made, "/trust shows what they say"):
                self.screen.say(neutral(told), "yellow")

    def _heard(self, text: str) -> bool:
        """Do what was typed; False to leave."""
        from holdfast.cli.chat.slash import slash

        if text.startswith("/"):
            return slash(self, text)
        if text.startswith("!"):
            self._command(text[1:].strip())
            return True
        self._turn(text)
        return True

    def _turn(self, text: str) -> None:
        said = [text, *self._pictures(without_marks(text))]
        files = self._mentioned(text)
        self._worked(lambda: self.agent.turn(*said, files=files))

    def _worked(self, work: Callable[[], object]) -> None:
        """Let the agent work; what goes wrong is said, and a cap is asked about."""
        from holdfast.errors import Capped, HoldfastError

        self.screen.busy("thinking…")
        try:
            work()
        except KeyboardInterrupt:
            self.screen.interrupted()  # also where that struck before the agent could say so
        except Capped as capped:
            if self._goes_on(capped):
                self._worked(self.agent.go_on)
        except HoldfastError as error:
            self.screen.rest()
            self.screen.say(f"error: {neutral(in_chat(str(error)))}", "red")
        finally:
            self.screen.rest()

    def _changed(self) -> None:
        """Something was said or done, so that the line below is to be drawn again."""
        self._used = ""
        if self._script:
            self._script.ask()

    def _goes_on(self, capped: Capped) -> bool:
        """Whether somebody lets the session spend more than its cap."""
        from holdfast.cli.cap_options import raised

        self.screen.say(neutral(str(capped).partition("; ")[0]), "yellow")
        if not self.screen.agreed("go on?"):
            self.screen.say("paused; what was said is kept, and nothing was sent", "yellow")
            return False
        new = raised(self.agent.session, capped)
        self.screen.say(f"the cap of the {capped.of} is ${new:,.2f} now", "dim")
        return True

    def _pictures(self, text: str) -> list[Any]:
        """The pictures that are taken along; each is said, and so is what cannot be."""
        from holdfast.cli.chat.attachments import pictures

        taken, wrong = pictures(text, self.agent.session.info.directory)
        for one in taken:
            self.screen.say(f"  picture: {one.name}, {one.type}, {size(len(one.data))}", "dim")
        for words in wrong:
            self.screen.say(f"  {words}", "yellow")
        return list(taken)

    def _mentioned(self, text: str) -> list[str]:
        """The files that an @ names, to be said along; each is told of here."""
        window = self.agent.session.catalogue.profile(self.whom.model).window
        found: list[str] = []
        for path in mentioned(text, self.agent.toolbox.root):
            said, about = taken_along(path, self.agent.files, window)
            self.screen.say(f"  {about}", "dim" if said else "yellow")
            found += filter(None, [said])
        return found

    def _command(self, command: str) -> None:
        """Run a command of the user's own, and let the model know of it, interrupted or not."""
        from holdfast.agent.build import workplace
        from holdfast.agent.tools.shell import Interrupted, run
        from holdfast.core.secrets import redact
        from holdfast.core.window.scaffold import wrap
        from holdfast.model.message import Message, Text

        if not command:
            self.screen.say("!COMMAND runs a shell command, and lets the model know of it", "dim")
            return
        self.screen.busy(f"{command[:200]}…")
        try:
            output = run(command, workplace(self.agent.session.info), 600)
        except Interrupted as stopped:
            output = stopped.output
        except (OSError, ValueError) as error:
            self.screen.say(f"error: it could not be started: {error}", "red")
            return
        try:
            with suppress(KeyboardInterrupt), interrupts_wait():  # it has run: that is kept
                self.screen.rest()
                output = redact(output, self.agent.session.secrets)
                told = wrap("user_shell_command", f"$ {command}\n{output}")
                self.agent.session.append(Message("user", (Text(told, "user_shell_command"),)))
                self._used = ""
        finally:
            self.screen.console.print(neutral(output), markup=False, highlight=False)

    def _prompt(self) -> Any:
        from holdfast.cli.chat.prompt import prompt
        from holdfast.cli.chat.status_line import EVERY, Script
        from holdfast.engine.settings import settings

        command = settings().status.command
        if command:
            self._script = Script(command, lambda: self.agent.session.status())
            self._script.ask()
        return prompt(self, EVERY if command else None)

    def toolbar(self) -> Any:
        """The line below what is typed: the user's own, where there is one and it says anything."""
        if not (self._script and (lines := self._script.lines)):
            return self.status()
        from prompt_toolkit.formatted_text import ANSI

        from holdfast.cli.chat.status_line import cut

        return ANSI("\n".join(cut(line, self.screen.console.width) for line in lines))

    def status(self) -> str:
        """Our own: model, how much of its window is taken, cost; limits when little is left."""
        if not self._used:
            shot = self.agent.session.snapshot()
            self._limits = shot.limits
            taken, window = self.taken()
            full = round(min(taken / window, 1.0) * GAUGE) if window else 0
            self._gauge = f"{'█' * full}{'░' * (GAUGE - full)} "
            spent = spent_in_words(shot)
            self._used = f"{of_window(taken, window)} · {spent}"
        low = self._low()  # it takes the place of the gauge: both are too much for 80 columns
        told = f"{low} · {self._used}" if low else f"{self._gauge}{self._used}"
        return fitted(f" {self.whom.model} · {told}", self.screen.console.width)

    def _low(self) -> str:
        from holdfast.core.calls.rate_limits import warning

        return warning(self._limits, self.agent.session.now())

    def taken(self) -> tuple[int, int]:
        """How many tokens would be sent now, and how many the model holds."""
        session = self.agent.session
        if not session.info.head:  # nothing is worked out for a session that has not begun
            return 0, session.catalogue.profile(self.whom.model).window
        told = self.agent.would_send(self.whom.model)
        return told.tokens, told.window


def of_window(tokens: int, window: int) -> str:
    """How much of a window some tokens take, where there is little place."""
    if not window:
        return f"{tokens:,} tokens of a window of unknown size"
    return f"{percent(tokens, window)} of the window of {window:,}"
