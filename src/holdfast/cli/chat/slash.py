"""What can be typed with a slash: every command is one entry of a table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from holdfast.cli.chat.outputs import show
from holdfast.cli.chat.slash_agent import back, plan, think
from holdfast.cli.chat.slash_knowledge import instructions, trust
from holdfast.cli.chat.slash_memory import memory
from holdfast.cli.chat.slash_rewind import checkpoints, diff, rewind
from holdfast.cli.chat.slash_sessions import export, fork, resume, search
from holdfast.cli.chat.tokens import tokens
from holdfast.cli.context.plan_view import in_sight
from holdfast.cli.ui.format import in_chat, many, number, program, runnable
from holdfast.cli.ui.terminal import neutral
from holdfast.cli.usage.cost import money_of, spent_in_words, worked
from holdfast.core.search.nearest import nearest
from holdfast.errors import HoldfastError, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.chat.conversation import Conversation
    from holdfast.files import Root
    from holdfast.model.profile import Profile

SHOWN = 12
"""So many models of one provider are listed."""


def choose(talk: Conversation, name: str) -> None:
    """Go on with another model; without a name, list those that can be had."""
    from holdfast.agent.model_choice import whom

    if not name:
        talk.screen.say(f"{talk.whom.model}; /model NAME takes another")
        _list_models(talk)
    elif _meant(talk, name):
        talk.speak_to(whom(name))
        session = talk.agent.session
        if "window" not in session.catalogue.profile(name).assumed:
            session.set_model(name)  # whoever opens it again goes on with whom was asked for
        talk.screen.say(f"from here on {talk.whom.model}")


def _list_models(talk: Conversation) -> None:
    found = usable()
    for provider, names in found.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        talk.screen.say(f"  {provider}: {', '.join(names[:SHOWN])}{more}", "dim")
    if not found:
        talk.screen.say("  no key is set, so there is no other to talk to", "dim")
    talk.screen.say(f"  `{program()} models --all` shows what each holds and costs", "dim")


def usable() -> dict[str, list[str]]:
    """The models that can be talked to now, by whose they are: those a key is there for, and ours.

    The newest come first, as far as names tell.
    """
    from holdfast.agent.model_choice import KEYS, SMALL, compatible, local
    from holdfast.core.search.nearest import newest_first
    from holdfast.engine.inspect.lookup import talks
    from holdfast.engine.plugins import catalogue, has_weights

    keyed = [name for name, keys in KEYS.items() if any(map(os.environ.get, keys))]
    known = catalogue()
    found: dict[str, list[str]] = {name: [] for name in keyed}
    for one in filter(talks, map(known.profile, known.models())):
        if one.provider in found:
            found[one.provider].append(one.name)
    found = {name: newest_first(names) for name, names in found.items()}
    if compatible(os.environ):
        found |= {"openai": ["any that the server at OPENAI_BASE_URL has"]}
    elif not keyed:
        found |= {one.name: list(one.models) for one in local(os.environ)}
    return found | ({"on this machine": [SMALL]} if has_weights() else {})


def _meant(talk: Conversation, name: str) -> bool:
    """Whether a model is known, or somebody wants it all the same."""
    from holdfast.agent.model_choice import SMALL, compatible, whom
    from holdfast.engine.inspect.lookup import is_known, meant

    known = talk.agent.session.catalogue
    profile = known.profile(name)
    if name == SMALL or name.endswith(".gguf") or is_known(profile):
        return True
    assumed = f"{profile.window:,} tokens are assumed"
    if profile.provider == "" and not compatible(os.environ) and not whom(name).url:
        _unknown(talk, profile, meant(known, profile))
        return talk.screen.agreed(f"talk to it all the same? {assumed}")
    talk.screen.say(f"nobody here knows {name}: {assumed}", "yellow")
    return True


def _unknown(talk: Conversation, profile: Profile, near: tuple[str, ...]) -> None:
    hint = f"; did you mean {' or '.join(near)}?" if near else "; there are:"
    talk.screen.say(f"nobody here knows {profile.name}{hint}", "yellow")
    if not near:
        _list_models(talk)


MOST: Final = 50
"""A pattern that names more files than this is refused: all of them would be in every call."""

WILD: Final = frozenset("*?[")


def add(talk: Conversation, rest: str) -> None:
    """Bring files into the chat, to be changed."""
    _bring(talk, rest, read_only=False)


def read(talk: Conversation, rest: str) -> None:
    """Bring files into the chat, to be read only."""
    _bring(talk, rest, read_only=True)


def drop(talk: Conversation, rest: str) -> None:
    """Take files out of the chat; without a name, say which are there."""
    there = [path for path, _ in talk.agent.files.named()]
    for word in words_of(rest):
        for path in [one for one in there if like(one, word)] or [word]:
            gone = talk.agent.files.drop(path)
            talk.screen.say(f"{path} is {'out of' if gone else 'not in'} the chat")
    if not rest:
        _list(talk)


def words_of(rest: str) -> list[str]:
    """What is named, one by one; a name with blanks is quoted, as in a shell."""
    try:
        return shlex.split(rest)
    except ValueError:  # a quote that nothing closes is part of a name
        return rest.split()


def like(path: str, pattern: str) -> bool:
    """Whether a path is like a pattern, as shells have it: `*` stays within one directory, and
    `**` stands for any number of them."""
    return _like(path.split("/"), pattern.removeprefix("./").split("/"))


def _like(names: Sequence[str], patterns: Sequence[str]) -> bool:
    if not patterns:
        return not names
    if patterns[0] == "**":
        rest = patterns[1:] or ["*"]
        return any(_like(names[at:], rest) for at in range(len(names)))
    return bool(names) and fnmatchcase(names[0], patterns[0]) and _like(names[1:], patterns[1:])


def matched(root: Root, word: str) -> list[str]:
    """The files that a word names: one, all beneath a directory, or those like a pattern."""
    from holdfast.agent.tools.find_files import files

    place = word.removeprefix("./")
    if os.path.isdir(os.path.join(root.path, place)):
        return [one.path for one in files(root, place)]
    if not WILD & set(place) or os.path.exists(os.path.join(root.path, place)):
        return [word]
    start = "/".join(_plain(place.split("/")[:-1])) or "."
    hidden = any(name.startswith(".") for name in place.split("/"))
    return [
        one.path
        for one in files(root, start)
        if like(one.path, place) and (hidden or not _hidden(one.path))
    ]


def _plain(names: Sequence[str]) -> list[str]:
    """The names before the first one that is a pattern."""
    first = next((at for at, name in enumerate(names) if WILD & set(name)), len(names))
    return list(names[:first])


def _hidden(path: str) -> bool:
    return any(name.startswith(".") for name in path.split("/"))


def _named(talk: Conversation, rest: str) -> list[str]:
    """All files that some words name; InvalidRequest where that is too many."""
    root = talk.agent.toolbox.root
    found: list[str] = []
    for word in words_of(rest):
        these = matched(root, word)
        if not these:
            talk.screen.say(f"nothing here is like {word}", "red")
        found += these
    found = list(dict.fromkeys(found))
    if len(found) > MOST:
        raise InvalidRequest(
            f"{number(len(found))} files are like that; name at most {MOST} at once"
        )
    return found


def _bring(talk: Conversation, rest: str, *, read_only: bool) -> None:
    if not rest:
        _list(talk)
        return
    named = _named(talk, rest)
    sizes: list[int] = []
    for path in named:
        try:
            sizes.append(talk.agent.files.add(path, read_only=read_only))
        except FileNotFoundError:
            talk.screen.say(_absent(str(talk.agent.toolbox.root.path), path), "red")
        except (HoldfastError, OSError) as error:
            if len(named) == 1:
                raise
            talk.screen.say(f"left out: {error}", "yellow")
        else:
            talk.agent.acknowledge(path)
            talk.screen.say(f"{path} is in the chat, about {sizes[-1]:,} tokens")
    if len(sizes) > 1:
        talk.screen.say(f"{many(len(sizes), 'file')}, about {sum(sizes):,} tokens in every call")


def counted(talk: Conversation, rest: str) -> list[tuple[str, int]]:
    """How many tokens each file takes that some words name; what is no text is said to be so."""
    found: list[tuple[str, int]] = []
    for path in _named(talk, rest):
        try:
            found.append((path, talk.agent.files.size(path)))
        except FileNotFoundError:
            talk.screen.say(_absent(str(talk.agent.toolbox.root.path), path), "red")
        except (HoldfastError, OSError) as error:
            talk.screen.say(f"left out: {error}", "yellow")
    return found


def _list(talk: Conversation) -> None:
    named = talk.agent.files.named()
    for path, only in named:
        talk.screen.say(f"{path}{' (read-only)' if only else ''}")
    if not named:
        talk.screen.say("no file is in the chat; /add PATH brings one, /read PATH to be read only")


def _absent(root: str, path: str) -> str:
    """That there is no such file, and the name in its directory that is nearest."""
    directory, name = os.path.split(path)
    try:
        there = os.listdir(os.path.join(root, directory))
    except OSError:
        return f"there is no directory {directory} here"
    near = nearest(name, there)
    hint = f"; did you mean {os.path.join(directory, near[0])}?" if near else ""
    return f"there is no file {path} here{hint}"


LITTLE = 1_000
"""With fewer tokens than these nothing is gained by a summary."""

FORCE = "force"
"""What is typed behind /compact to have a summary all the same."""


class Slash(NamedTuple):
    """One command: what it does in a few words, and how."""

    about: str
    act: Callable[[Conversation, str], bool | None]


def slash(talk: Conversation, text: str) -> bool:
    """Do what a command says; False to leave."""
    from holdfast.errors import HoldfastError

    name, _, rest = text[1:].partition(" ")
    command = SLASH.get(name)
    if command is None:
        near = nearest(name, SLASH)
        hint = f"; did you mean /{near[0]}?" if near else "; /help lists them"
        talk.screen.say(f"there is no /{name}{hint}", "red")
        return True
    try:
        return command.act(talk, rest.strip()) is not False
    except (HoldfastError, OSError) as error:
        talk.screen.say(f"error: {neutral(in_chat(str(error)))}", "red")
        return True


def _help(talk: Conversation, rest: str) -> None:
    told = {f"/{name}": one.about for name, one in SLASH.items()} | BESIDES
    width = max(map(len, told))
    for typed, about in told.items():
        talk.screen.say(f"{typed:<{width}}  {about}")


def _context(talk: Conversation, rest: str) -> None:
    from holdfast.cli.context.fullness import of_window, remarks

    explained = talk.agent.would_send(talk.whom.model)
    by: dict[str, int] = {}
    for line in explained.lines:
        by[line.section] = by.get(line.section, 0) + line.tokens
    largest = max(by.values(), default=1)
    for section, taken in by.items():
        talk.screen.say(f"{section:<16} {taken:>9,}  {'█' * round(taken / largest * 40)}")
    whole = of_window(explained.tokens, explained.window)
    talk.screen.say(f"{'would be sent':<16} {explained.tokens:>9,}  {whole}", "bold")
    for remark in remarks(explained):
        talk.screen.say(remark, "dim")


def _compact(talk: Conversation, rest: str) -> None:
    if not rest and (short := _too_short(talk)):
        talk.screen.say(short)
        return
    from holdfast.cli.chat.screen import compaction

    talk.screen.busy("compacting…")
    try:
        plan = talk.agent.session.plan(focus="" if rest == FORCE else rest)
        marker = talk.agent.session.apply(plan)
    finally:
        talk.screen.rest()
    talk.screen.say(compaction(marker))
    talk.screen.say(
        in_sight(plan.report.counts, "/recall #N") if plan.report else "nothing is lost"
    )


def _too_short(talk: Conversation) -> str:
    """Why a summary would gain nothing; empty where it may."""
    lines = talk.agent.would_send(talk.whom.model).lines
    said = sum(line.tokens for line in lines if line.seq)
    if said >= LITTLE:
        return ""
    return (
        f"what was said takes about {many(said, 'token')}, and a summary would take as many, so "
        "nothing was done"
    )


def _undo(talk: Conversation, rest: str) -> None:
    _turned(talk, lambda: talk.agent.session.undo(rest), "undone; what was hidden is visible again")


def _redo(talk: Conversation, rest: str) -> None:
    _turned(talk, talk.agent.session.redo, "done again; /undo takes it back")


def _turned(talk: Conversation, act: Callable[[], object], words: str) -> None:
    """Undo or redo, and say what that does to what would be sent."""
    from holdfast.cli.context.fullness import change

    before = talk.agent.would_send(talk.whom.model)
    act()
    after = talk.agent.would_send(talk.whom.model)
    talk.screen.say(f"{words}: {change(before.tokens, after.tokens, after.window)}")


def _cost(talk: Conversation, rest: str) -> None:
    from holdfast.core.calls.rate_limits import told

    shot = talk.agent.session.snapshot()
    talk.screen.say(
        f"{spent_in_words(shot)} · {shot.total_input_tokens:,} tokens in · "
        f"{shot.total_output_tokens:,} out"
    )
    for one in talk.hf.costs("model", session=talk.agent.session.id):
        known = money_of(one.cost, one.unpriced, one.calls)
        talk.screen.say(f"  {one.name}: {known} · {many(one.calls, 'call')}")
    _cost_of_subtasks(talk)
    talk.screen.say(worked(shot))
    now = talk.agent.session.now()
    talk.screen.say(told(shot.limits, shot.tokens_per_minute, now), "dim")


def _cost_of_subtasks(talk: Conversation) -> None:
    from holdfast.agent.tools.subtask import subtasks

    ids = [one.id for one in subtasks(talk.hf, talk.agent.session.info)]
    groups = [group for id in ids for group in talk.hf.costs("model", session=id)]
    if ids:
        unpriced, calls = (sum(group.unpriced for group in groups), sum(g.calls for g in groups))
        spent = money_of(sum(group.cost for group in groups), unpriced, calls)
        talk.screen.say(f"  besides, {many(len(ids), 'subtask')}: {spent}")


def _weak_model(talk: Conversation, rest: str) -> None:
    from holdfast.cli.chat.resume import reachable, unasked

    if not rest:
        now = talk.opener.weak_model
        talk.screen.say(
            now or "no cheaper model is named; /weak-model NAME has one write summaries"
        )
        return
    talk.opener.weak_model = "" if rest == "off" else reachable(rest)
    talk.agent.session.set_weak_model(talk.opener.weak_model)
    if rest == "off":
        talk.screen.say("the model itself writes its summaries from here on")
        return
    told = unasked(talk.agent.session, rest)
    talk.screen.say(told or f"summaries are written by {rest} first")


def _policy(talk: Conversation, rest: str) -> None:
    if not rest:
        from holdfast.engine.plugins import policies

        talk.screen.say(f"{talk.agent.session.info.policy}; /policy NAME takes another")
        talk.screen.say(f"  {', '.join(policies())}, or the path of a file", "dim")
        return
    talk.agent.session.set_policy(rest)
    talk.screen.say(f"managed by {rest} from here on")


def _pin(talk: Conversation, rest: str) -> None:
    if not rest:
        pins = talk.agent.session.view().folded.pins
        for one in pins:
            talk.screen.say(f"{one.fact or one.path or f'#{one.seq}'}")
        talk.screen.say("" if pins else "nothing is pinned; /pin TEXT keeps a fact in every window")
        return
    if rest.isascii() and rest.isdigit():
        talk.agent.session.pin(int(rest))
    else:
        talk.agent.session.pin(fact=rest)
    talk.screen.say("pinned: it is in every window from here on")


def _unpin(talk: Conversation, rest: str) -> None:
    if not rest:
        _pin(talk, "")
        talk.screen.say("/unpin lets one go, by its number, path or the beginning of its fact")
        return
    talk.agent.session.unpin(rest)
    talk.screen.say("no longer pinned")


def _recall(talk: Conversation, rest: str) -> None:
    if not rest:
        talk.screen.say(
            "/recall HANDLE brings something back: #12 is an entry, and what was cleared names "
            "its own handle"
        )
        return
    found = talk.agent.session.recall(rest)
    talk.screen.console.print(neutral(found.text), markup=False, highlight=False)


def _map(talk: Conversation, rest: str) -> None:
    from holdfast.agent.tools.repo_map import shown, why_none

    if talk.agent.map is None:
        talk.screen.say(runnable(why_none(talk.agent)))
        return
    if rest == "anew":
        talk.agent.map.forget()
    talk.screen.busy("reading the repository…")
    try:
        text = shown(talk.agent)
    finally:
        talk.screen.rest()
    talk.screen.console.print(neutral(text), markup=False, highlight=False)
    talk.screen.say("/map anew makes it afresh", "dim")


def _clear(talk: Conversation, rest: str) -> None:
    info = talk.agent.session.info
    talk.take(talk.opener.new(talk.whom.model, info.policy, info.directory), talk.whom)
    talk.screen.say("a new session; /resume lists the others")


def _exit(talk: Conversation, rest: str) -> bool:
    return False


SLASH: dict[str, Slash] = {
    "help": Slash("this list", _help),
    "context": Slash("what fills the window", _context),
    "compact": Slash("tell it in a summary; say what to dwell on, or force", _compact),
    "rewind": Slash("go back to before something was said, files too; also Esc Esc", rewind),
    "diff": Slash("what was done to the files; of one prompt by its number", diff),
    "checkpoints": Slash("how much is kept of the files, and what is not covered", checkpoints),
    "undo": Slash("take the last compaction or rewind back, or the one of an entry", _undo),
    "redo": Slash("do again what was taken back", _redo),
    "tokens": Slash("how many tokens the next call takes; with names, how many files do", tokens),
    "cost": Slash("what it has cost so far", _cost),
    "model": Slash("whom to talk to; without a name, who there is", choose),
    "weak-model": Slash("who writes summaries first; off for nobody else", _weak_model),
    "think": Slash("how long it may think: on, off, tokens, or an effort such as high", think),
    "plan": Slash("it only looks and answers with a plan; off lets it work", plan),
    "back": Slash("take back the last turn, or so many; files stay as they are", back),
    "policy": Slash("how the context is managed", _policy),
    "pin": Slash("keep a fact, or an entry by its number, in every window", _pin),
    "unpin": Slash("let something go that was pinned", _unpin),
    "memory": Slash("notes that outlive this session; /memory review approves what waits", memory),
    "recall": Slash("bring something back by its handle", _recall),
    "add": Slash("bring files into the chat, such as src/*.py; alone, which are there", add),
    "read": Slash("bring files into the chat, to be read only", read),
    "drop": Slash("take files out of the chat", drop),
    "instructions": Slash("the instruction files and skills here, and which act", instructions),
    "trust": Slash("show what the project's files say, and approve it; or a file by name", trust),
    "map": Slash("the map of the repository as the model has it; anew makes it afresh", _map),
    "show": Slash("all of what a tool has answered, by its number; without one, the last", show),
    "search": Slash("what was said, in any session; then a number shows one of them", search),
    "resume": Slash("other sessions, or go on with one", resume),
    "fork": Slash("go on in a copy, up to an entry or all; the session stays as it is", fork),
    "export": Slash("write the session to a file, such as talk.html or talk.md", export),
    "clear": Slash("begin a new session", _clear),
    "exit": Slash("leave", _exit),
}

BESIDES = {
    "!COMMAND": "run a shell command, and let the model know of it",
    "@FILE": "in what is said, says the file along with it",
    "a path": "of a picture, in what is said, takes the picture along",
    "Esc Esc": "in an empty line, goes back like /rewind",
    "Tab": "completes commands, files, models, sessions",
    "Ctrl-O": "shows whole what a tool answered last",
    "Alt-Enter": "begin another line; a backslash at the end does so too",
}
"""What else can be typed."""
