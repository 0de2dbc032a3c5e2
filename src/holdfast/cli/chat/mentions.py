"""`@file` in what is typed: the file is said along with it, as it is now.

A word after an @ that names no file beneath the directory is a word: an address, a decorator.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from holdfast.core.window.scaffold import wrap

if TYPE_CHECKING:
    from holdfast.agent.tools.chat_files import ChatFiles
    from holdfast.files import Root

MENTION: Final = re.compile(r'(?<![\w@./-])@(?:"([^"\n]+)"|([^\s"`\']+))')

ENDING: Final = ".,;:!?)]}>"
"""What may stand behind a name without being part of it."""

SHARE: Final = 4
"""A file takes at most this part of the window: a quarter."""

PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)


def mentioned(text: str, root: Root) -> list[str]:
    """The files that a text mentions, in order, each once."""
    found: list[str] = []
    for quoted, bare in MENTION.findall(text):
        named = [quoted] if quoted else [bare, bare.rstrip(ENDING)]
        path = next((one for one in named if one and _is_file(root, one)), "")
        if path and not PICTURE.search(path):
            found.append(path)
    return list(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """The same text without the @ before names, for whoever looks for paths in it."""
    return MENTION.sub(lambda found: f'"{found[1]}"' if found[1] else found[2], text)


def taken_along(path: str, files: ChatFiles, window: int) -> tuple[str, str]:
    """A file as it is said to the model, and what is said of it here; no text where it cannot be
    taken along."""
    from holdfast.errors import HoldfastError

    try:
        content = files.content(path)
    except (HoldfastError, OSError) as error:
        return "", f"{path} is not taken along: {error}"
    tokens = files.count(content)
    if window and tokens > window // SHARE:
        return "", (
            f"{path} is not taken along: about {tokens:,} tokens are more than a quarter of the "
            "window; the model can read parts of it"
        )
    return wrap("file", content, path=path), f"file: {path}, about {tokens:,} tokens"


def _is_file(root: Root, path: str) -> bool:
    from stat import S_ISREG

    from holdfast.errors import HoldfastError

    try:
        return S_ISREG(root.stat(path.removeprefix("./")).st_mode)
    except (HoldfastError, OSError, ValueError):
        return False
