"""What Tab offers in the chat: commands, and behind them models, sessions, policies, files, pins.

Rule 1: a slash or an @ offers while somebody types; all else waits for Tab.
Rule 2: it reads the disk and the store beside what is typed, so that typing never waits.
Rule 3: nothing that goes wrong here is ever shown.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from prompt_toolkit.completion import Completer, Completion

from holdfast.cli.ui.terminal import fitted

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from holdfast.cli.chat.conversation import Conversation
    from holdfast.files import Root

OFFERED: Final = 40
"""So many names are offered at most."""

WALKED: Final = 4_000
"""So many files are looked at for one whose name begins as what is typed."""

ABOUT: Final = 40
"""Columns of what is said about a name."""

MENTION: Final = re.compile(r'(?:^|(?<=[\s(]))@("[^"\n]*|[^\s"]*)$')


class Offer(NamedTuple):
    """A name, and a few words about it."""

    name: str
    about: str = ""


class ChatCompleter(Completer):
    """Offers what could come next in a conversation."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._files: list[str] | None = None

    def forget(self) -> None:
        """Look at the files anew: a turn may have made some."""
        self._files = None

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """What could come next; nothing where anything fails."""
        text = document.text_before_cursor
        if not complete_event.completion_requested and not offers_itself(text):
            return
        try:
            yield from list(islice(self._offered(text), OFFERED))
        except Exception:  # whoever types must never see an error
            return

    def _offered(self, text: str) -> Iterator[Completion]:
        if mention := MENTION.search(text):
            yield from self._paths(mention[1].lstrip('"'), len(mention[1]), _mentioned)
        elif text.startswith("/") and " " not in text:
            yield from _begun(self._commands(), text)
        elif text.startswith("/"):
            yield from self._arguments(text)
        else:
            word = re.split(r"\s", text)[-1]
            yield from self._paths(word, len(word), shlex.quote) if word else ()

    def _commands(self) -> Iterator[Offer]:
        from holdfast.cli.chat.slash import SLASH

        return (Offer(f"/{name}", one.about) for name, one in SLASH.items())

    def _arguments(self, text: str) -> Iterator[Completion]:
        """What may stand behind a command."""
        name, _, rest = text[1:].partition(" ")
        if name in PATHS:
            word = _last(rest)
            there = [one for one, _ in self._talk.agent.files.named()] if name == "drop" else None
            yield from self._paths(word, len(word), shlex.quote, there)
        if offers := NAMES.get(name):
            yield from _begun(offers(self._talk), rest)

    def _paths(
        self, word: str, length: int, quoted: Callable[[str], str], among: list[str] | None = None
    ) -> Iterator[Completion]:
        """Paths that begin as a word; else files anywhere whose own name begins so."""
        word = word.strip("'\"").removeprefix("./")
        if among is not None:
            found = [one for one in among if one.startswith(word)]
        else:
            root = self._talk.agent.toolbox.root
            found = there(root, word) or [one for one in self._known(root) if _named(one, word)]
        for path in found:
            yield Completion(quoted(path), start_position=-length, display=path)

    def _known(self, root: Root) -> list[str]:
        from holdfast.agent.tools.find_files import files

        if self._files is None:
            self._files = [one.path for one in islice(files(root), WALKED)]
        return self._files


def offers_itself(text: str) -> bool:
    """Whether somebody is shown what could come next without asking for it."""
    return (text.startswith("/") and " " not in text) or bool(MENTION.search(text))


def there(root: Root, begun: str) -> list[str]:
    """What a directory holds that begins as a path; directories end with a slash."""
    from holdfast.agent.tools.find_files import SKIPPED
    from holdfast.errors import HoldfastError

    directory, name = os.path.split(begun)
    try:
        held = root.listing(directory or ".")
    except (HoldfastError, OSError):
        return []
    names = [(one.path, one.path.rpartition("/")[2], one.kind) for one in held]
    return [
        f"{path}/" if kind == "directory" else path
        for path, own, kind in names
        if own.startswith(name) and own not in SKIPPED and (name or not own.startswith("."))
    ]


def _named(path: str, begun: str) -> bool:
    """Whether a file's own name begins so, or its path has what is typed with a slash in it."""
    if len(begun) < 2:  # one letter would offer half of all files
        return False
    own = path.rpartition("/")[2].lower()
    return own.startswith(begun.lower()) or ("/" in begun and begun.lower() in path.lower())


def _last(rest: str) -> str:
    """The last word, with its quote where one is open."""
    found = re.search(r"""(?:"[^"]*|'[^']*|(?:\\.|[^\s'"])*)$""", rest)
    return found[0] if found else ""


def _mentioned(path: str) -> str:
    return f'"{path}"' if re.search(r"\s", path) and not path.endswith("/") else path


def _begun(offers: Iterable[Offer], typed: str) -> Iterator[Completion]:
    for one in offers:
        if one.name.lower().startswith(typed.lower()):
            yield Completion(one.name, start_position=-len(typed),
                             display_meta=fitted(one.about, ABOUT))  # fmt: skip


def _models(talk: Conversation) -> Iterator[Offer]:
    """Models that can be had, those of whoever a key is there for."""
    from holdfast.cli.chat.slash import usable

    for provider, names in usable().items():
        yield from (Offer(name, provider) for name in names if " " not in name)


def _weak(talk: Conversation) -> Iterator[Offer]:
    yield Offer("off", "the model itself writes its summaries")
    yield from _models(talk)


def _policies(talk: Conversation) -> Iterator[Offer]:
    from holdfast.engine.plugins import policies

    return map(Offer, policies())


def _sessions(talk: Conversation) -> Iterator[Offer]:
    from holdfast.agent.tools.subtask import is_subtask

    for one in talk.hf.sessions(limit=200):
        if one.head and not is_subtask(one) and one.id != talk.agent.session.id:
            yield Offer(one.id, one.title or talk.hf.opening(one))


def _pins(talk: Conversation) -> Iterator[Offer]:
    for one in talk.agent.session.view().folded.pins:
        yield Offer(one.fact or one.path or f"#{one.seq}")


def _forms(talk: Conversation) -> Iterator[Offer]:
    from holdfast.cli.transcripts.export import FORMATS

    return map(Offer, FORMATS)


def _words(*words: tuple[str, str]) -> Callable[[Any], Iterator[Offer]]:
    return lambda _: (Offer(*one) for one in words)


PATHS: Final = frozenset({"add", "read", "drop", "tokens", "export"})
"""Commands that take files."""

NAMES: Final[dict[str, Callable[[Conversation], Iterator[Offer]]]] = {
    "model": _models,
    "weak-model": _weak,
    "policy": _policies,
    "resume": _sessions,
    "unpin": _pins,
    "export": _forms,
    "compact": _words(("force", "however little it gains")),
    "map": _words(("anew", "make it afresh")),
}
"""Commands that take a name of something else."""
