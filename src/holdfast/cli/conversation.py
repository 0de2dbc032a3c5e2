"""Holding a conversation: what is typed is said, done or looked up, until somebody leaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.cli.terminal import fitted, neutral
from holdfast.model.caps import Caps

if TYPE_CHECKING:
    from holdfast.agent.loop import Agent
    from holdfast.agent.whom import Whom
    from holdfast.cli.screen import Screen
    from holdfast.cli.statusline import Script
    from holdfast.engine.doors import Holdfast
    from holdfast.errors import Capped
    from holdfast.model.limits import Limits

GAUGE = 20
"""How many characters the gauge of the window has."""


_SMALL = (
    "This is a small model inside this process: it shows how everything works, not how well. For a "
    "bigger one set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, name a GGUF file with -m, "
    "or a server with OPENAI_BASE_URL."
)


class Conversation:
    """One person, one agent, one terminal."""

    def __init__(self, hf: Holdfast, agent: Agent, screen: Screen, whom: Whom) -> None:
        self.hf = hf
        self.agent = agent
        self.screen = screen
        self.whom = whom
        self._used, self._gauge = "", ""
        self._limits: Limits | None = None
        self._script: Script | None = None

    def hold(self, *, loaded: bool) -> None:
        """Talk until an empty Ctrl-D, /exit, or the terminal goes away."""
        self._greet(loaded)
        prompt = self._prompt()
        try:
            self._listen(prompt)
        finally:
            if self._script:
                self._script.close()
        self.screen.say(f"session {self.agent.session.id} · holdfast chat -c goes on", "dim")

    def _listen(self, prompt: Callable[[], str]) -> None:
        while True:
            try:
                text = prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            if text.strip() and not self._heard(text.strip()):
                break
            self._changed()

    def _greet(self, loaded: bool) -> None:
        session = self.agent.session
        self.screen.say(f"holdfast · {self.whom.model} · {session.info.directory}", "bold")
        if self.whom.provider == "embedded":
            self.screen.say(_SMALL, "dim")
        if loaded:
            self.screen.say(_loaded(session), "dim")
        if session.caps != Caps() and not session.catalogue.profile(self.whom.model).prices:
            told = f"no price is known of {self.whom.model}, so no cap holds for it"
            self.screen.say(told, "yellow")
        self.screen.say(
            "/help shows what else can be typed; Ctrl-C interrupts, Ctrl-D leaves", "dim"
        )

    def _heard(self, text: str) -> bool:
        """Do what was typed; False to leave."""
        from holdfast.cli.slash import slash

        if text.startswith("/"):
            return slash(self, text)
        if text.startswith("!"):
            self._command(text[1:].strip())
            return True
        self._turn(text)
        return True

    def _turn(self, text: str) -> None:
        from functools import partial

        said = _with_pictures(text, self.agent.session.info.directory)
        self._worked(partial(self.agent.turn, *said))

    def _worked(self, work: Callable[[], object]) -> None:
        """Let the agent work; what goes wrong is said, and a cap is asked about."""
        from holdfast.errors import Capped, HoldfastError

        self.screen.busy("thinking…")
        try:
            work()
        except KeyboardInterrupt:
            pass
        except Capped as capped:
            if self._goes_on(capped):
                self._worked(self.agent.go_on)
        except HoldfastError as error:
            self.screen.rest()
            self.screen.say(f"error: {neutral(str(error))}", "red")
        finally:
            self.screen.rest()

    def _changed(self) -> None:
        """Something was said or done, so that the line below is to be drawn again."""
        self._used = ""
        if self._script:
            self._script.ask()

    def _goes_on(self, capped: Capped) -> bool:
        """Whether somebody lets the session spend more than its cap."""
        from holdfast.cli.capping import raised

        self.screen.say(neutral(str(capped).partition("; ")[0]), "yellow")
        if not self.screen.agreed("go on?"):
            self.screen.say("paused; what was said is kept, and nothing was sent", "yellow")
            return False
        new = raised(self.agent.session, capped)
        self.screen.say(f"the cap of the {capped.of} is ${new:,.2f} now", "dim")
        return True

    def _command(self, command: str) -> None:
        """Run a command of the user's own, and let the model know of it."""
        from holdfast.agent.shell import run
        from holdfast.core.scaffold import wrap
        from holdfast.model.message import Message, Text

        try:
            output = run(command, self.agent.session.info.directory or os.getcwd(), 600)
        except KeyboardInterrupt:
            self.screen.say("interrupted; the command was stopped", "yellow")
            return
        self.screen.console.print(neutral(output), markup=False, highlight=False)
        told = wrap("user_shell_command", f"$ {command}\n{output}")
        self.agent.session.append(Message("user", (Text(told, "user_shell_command"),)))

    def _prompt(self) -> Any:
        from holdfast.cli.statusline import EVERY, Script
        from holdfast.cli.typing_in import prompt
        from holdfast.engine.settings import settings

        command = settings().status.command
        if command:
            self._script = Script(command, lambda: self.agent.session.status())
            self._script.ask()
        return prompt(self.toolbar, EVERY if command else None)

    def toolbar(self) -> Any:
        """The line below what is typed: the user's own, where there is one and it says anything."""
        if not (self._script and (lines := self._script.lines)):
            return self.status()
        from prompt_toolkit.formatted_text import ANSI

        from holdfast.cli.statusline import cut

        return ANSI("\n".join(cut(line, self.screen.console.width) for line in lines))

    def status(self) -> str:
        """Our own: model, gauge, tokens, cost; limits when little is left."""
        if not self._used:
            shot = self.agent.session.snapshot()
            self._limits = shot.limits
            share = min(max(shot.used_percentage / 100, 0.0), 1.0)
            full = round(share * GAUGE)
            self._gauge = f"{'█' * full}{'░' * (GAUGE - full)} "
            self._used = (
                f"{share:4.0%} of {shot.context_window_size:,} · ${self.agent.session.cost:.4f}"
            )
        low = self._low()  # it takes the place of the gauge: both are too much for 80 columns
        told = f"{self._used} · {low}" if low else f"{self._gauge}{self._used}"
        return fitted(f" {self.whom.model} · {told}", self.screen.console.width)

    def _low(self) -> str:
        from holdfast.core.headroom import warning

        return warning(self._limits, self.agent.session.now())


def _loaded(session: Any) -> str:
    """What a resumed session brings along."""
    view = session.view()
    shown = sum(1 for entry in session.seen() if entry.is_message)
    told = len(view.folded.summaries)
    rest = view.last - shown
    word = "summary" if told == 1 else "summaries"
    summed = f" · {rest:,} earlier entries only in {told} {word}" if told else ""
    return f"{shown:,} messages loaded of {view.last:,} entries{summed}"


def _with_pictures(text: str, directory: str) -> list[Any]:
    """What was typed, and the pictures whose paths stand in it."""
    from holdfast.model.message import Media
    from holdfast.model.pictures import media_type

    found: list[Any] = [text]
    for word in text.split():
        path = os.path.join(directory or ".", os.path.expanduser(word.strip("'\"")))
        if word.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp")):
            try:
                with open(path, "rb") as file:
                    data = file.read(20 * 1024 * 1024)
            except OSError:
                continue
            if kind := media_type(data):
                found.append(Media(kind, data, name=os.path.basename(path)))
    return found
