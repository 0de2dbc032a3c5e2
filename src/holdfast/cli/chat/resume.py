"""Opening a session for the agent: a new one, the last, any, or a fork; and what that loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.agent_options import Asks
from holdfast.cli.options import LAST, Asked, completed, find
from holdfast.cli.ui.format import many, program

if TYPE_CHECKING:
    from holdfast.agent.hooks import Hooks
    from holdfast.engine.client import Holdfast, Session
    from holdfast.engine.writer import OnConflict
    from holdfast.model.log import SessionInfo
    from holdfast.model.policy import Policy


HERE = "."
"""Stands for the session that changed last among those of this project."""


def resuming(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --continue, --resume and --fork; what they name is `again` and `fork`."""

    @click.option("-c", "--continue", "going_on", is_flag=True,
                  help="Go on with the last session of this project.")  # fmt: skip
    @click.option("-r", "--resume", metavar="SESSION", default="", shell_complete=completed,
                  help="Go on with this session.")  # fmt: skip
    @click.option("--fork", is_flag=True, help="Go on in a fork of it, and leave it as it is.")
    @wraps(function)
    def both(*values: Any, going_on: bool, resume: str, fork: bool, **rest: Any) -> Any:
        from holdfast.errors import InvalidRequest

        again = resume or (HERE if going_on else "")
        if fork and not again:
            raise InvalidRequest("a fork of which session? say -c for the last one, or -r SESSION")
        return function(*values, again=again, fork=fork, **rest)

    return both


def summarised_by(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --summary-model; who it names, or the settings do, is `weak_model`."""

    @click.option("--summary-model", metavar="MODEL", shell_complete=completions.models, default="",
                  help="A cheaper model that writes summaries first.")  # fmt: skip
    @wraps(function)
    def both(*values: Any, summary_model: str, **rest: Any) -> Any:
        from holdfast.engine.settings import settings

        named = summary_model.strip() or settings().summary_model
        return function(*values, weak_model=named, **rest)

    return both


def reachable(weak_model: str) -> str:
    """The model, once it is known that it can be asked; AuthError, with what to do, where not."""
    from holdfast.agent.api_keys import check_key
    from holdfast.agent.model_choice import whom

    if weak_model:
        check_key(whom(weak_model))
    return weak_model


def unasked(session: Session, weak_model: str) -> str:
    """That a model was named for summaries which this session's policy does not ask; else empty."""
    policy = session.catalogue.policy(session.info.policy)
    rules = [rule for rule in (policy.summarise, policy.compact) if rule]
    if any("weak" in rule.models for rule in rules):
        return ""
    return f"{policy.name} has the model itself write its summaries; {weak_model} is not asked"


def unasked_here(session: Session, weak_model: str) -> str:
    """The same for a model that this command names, and not the settings for every session."""
    from holdfast.engine.settings import settings

    named = weak_model and weak_model != settings().summary_model
    return unasked(session, weak_model) if named else ""


class Opener:
    """Opens sessions, each with whoever writes summaries and with the user's hooks."""

    def __init__(
        self,
        hf: Holdfast,
        voice: Any,
        caps: Mapping[str, float | None],
        on_conflict: OnConflict = "append",
        weak_model: str = "",
        asked: Asked | None = None,
        how: Asks | None = None,
    ) -> None:
        self._hf = hf
        self._voice = voice
        self._on_conflict: OnConflict = on_conflict
        self._caps = caps
        self.hooks: Hooks | None = None
        """Of the session that was opened last."""
        self._made: set[str] = set()
        self.asked = asked or Asked()
        """What was said on the command line of which store it is."""
        self.how = how or Asks()
        """How the agents ask their models."""
        self.weak_model = weak_model
        """Who writes summaries first, where a policy asks a cheaper model."""

    def new(self, model: str, policy: str | Policy = "holdfast", directory: str = "") -> Session:
        """A session that has not begun."""
        where = directory or os.getcwd()
        made = self._hf.session(
            model=model, directory=where, policy=policy, summariser=self._voice,
            hooks=[self._watching(where)], on_conflict=self._on_conflict,
            weak_model=self.weak_model,
        )  # fmt: skip
        self._made.add(made.id)
        return made.set_caps(**self._caps)

    def left(self, session: SessionInfo) -> bool:
        """A session is left: where it was made here and nothing was said, none is kept."""
        return session.id in self._made and not session.head and self._hf.discard(session.id)

    def begun(
        self, resumed: Session | None, model: str, policy: str | Policy, *, fork: bool
    ) -> Session:
        """The session to work in: made only once there is somebody to work with."""
        if resumed is None:
            return self.new(model, policy)
        return self.forked(resumed) if fork else resumed

    def forked(self, session: Session, at: str = "") -> Session:
        """A session of its own that goes on from an entry of another, or from all of it."""
        return session.fork(at).set_caps(**self._caps)

    def again(self, name: str) -> Session:
        """The session of a name, to go on with."""
        from holdfast.agent.build import workplace

        found = self._newest(name) if name in (HERE, LAST) else find(self._hf, name)
        hooks = [self._watching(workplace(found))]
        session = self._hf.session(
            found.id,
            summariser=self._voice,
            hooks=hooks,
            on_conflict=self._on_conflict,
            weak_model=self.weak_model,
        )
        return session.set_caps(**self._caps)

    def _watching(self, directory: str) -> Hooks:
        from holdfast.agent.hooks import hooks

        self.hooks = hooks(directory)
        return self.hooks

    def _newest(self, name: str) -> SessionInfo:
        """The session that changed last, here or anywhere; a subtask is none that anybody means."""
        from holdfast.agent.tools.subtask import is_subtask
        from holdfast.errors import InvalidRequest

        here = _project() if name == HERE else None
        found = self._hf.sessions(project=here, limit=50)
        whole = next((one for one in found if one.head and not is_subtask(one)), None)
        if whole is None and here:
            raise InvalidRequest(
                f"no session has worked in {here} yet; -r SESSION goes on with one from elsewhere "
                "(`holdfast sessions` lists them), and without -c a new one begins"
            )
        return whole or find(self._hf, LAST)


def _project() -> str:
    from holdfast.files import project_root

    return str(project_root(os.getcwd()))


def how_to_go_on(hf: Holdfast, session: SessionInfo, again: str = "") -> str:
    """How to go on with a session: by its name, unless it is the only one here; `again` names the
    store where that is not the usual one."""
    if not session.head:
        return "nothing was said, so there is no session to go on with"
    from holdfast.agent.tools.subtask import is_subtask

    found = hf.sessions(project=_project(), limit=50)
    here = [one.id for one in found if one.head and not is_subtask(one)]
    if here == [session.id]:
        return f"session {session.id} · {program()} chat -c{again} goes on"
    return f"{program()} chat --resume {session.id}{again} goes on"


def loaded(session: Session, model: str) -> dict[str, Any]:
    """What a resumed session brings along for a model, in numbers, and where it works."""
    from holdfast.agent.build import workplace

    view = session.view()
    seen = sum(max(min(span.last, view.last) - span.first + 1, 0) for span in view.spans)
    return {
        "messages": sum(1 for entry in session.visible() if entry.is_message),
        "tokens": session.explain_now(model).tokens,
        "entries": view.last,
        "summarised": view.last - seen if view.folded.summaries else 0,
        "summaries": len(view.folded.summaries),
        "cleared": len(view.folded.cleared),
        "directory": workplace(session.info),
        "summary_due": _due(session, model),
    }


def _due(session: Session, model: str) -> dict[str, Any] | None:
    """The summary that the first turn begins with, and what it may cost; None where none is due."""
    found = session.next_summary(model)
    if found is None:
        return None
    cost = None if found.cost is None else found.cost / 1e9
    return {"tokens": found.tokens, "model": found.model, "most_usd": cost,
            "why_not": found.why_not}  # fmt: skip


def in_advance(told: dict[str, Any]) -> str:
    """What will be paid for before the first answer, in words; empty where nothing will."""
    due = told["summary_due"]
    if due is None:
        return ""
    what = f"too much for a window: about {many(due['tokens'], 'token')} of it first become "
    if due["why_not"]:
        return f"{what}a summary made without a model: {due['why_not']}"
    price = "nobody knows what that costs" if due["most_usd"] is None else (
        f"that may cost up to ${due['most_usd']:.4f}"
    )  # fmt: skip
    return f"{what}a summary by {due['model']}; {price}, and --cap-session bounds it"


def in_words(told: dict[str, Any]) -> str:
    """The same as a sentence; where it works is said if that is not here."""
    words = f"{many(told['messages'], 'message')} loaded, about {many(told['tokens'], 'token')}"
    if told["summaries"]:
        hidden = many(told["summarised"], "earlier entry", "earlier entries")
        words += f" · {hidden} only in {many(told['summaries'], 'summary')}"
    if told["cleared"]:
        words += f" · {many(told['cleared'], 'output')} cleared"
    if "·" in words:
        words += "; recall brings back what is not shown"
    away = not os.path.samefile(told["directory"], os.getcwd())
    return f"{words} · it works in {told['directory']}" if away else words
