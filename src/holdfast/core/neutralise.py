"""Text that people read, with everything made visible that would act or hide.

Rule 1: what is said stays in the log as it was; this is for a terminal, a page, or a file that
        people read.
Rule 2: a character that moves a cursor, turns text round or is not shown at all becomes its name,
        `<U+202E>`, or its picture, `␛`, so that a reader sees that something was there.
Rule 3: joiners and variation selectors stay where scripts and emoji need them: between characters
        beyond ASCII, and one at a time.
"""

from __future__ import annotations

import re
from typing import Final

_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

_ACTING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: C0 but tab and line feed, delete, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # which way text runs
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065"  # of no width
    "\u3164\ufeff\uffa0"  # blanks that are no blanks
    "\ufff0-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # text that no terminal shows
    "\ud800-\udfff]"  # halves of characters, which cannot be written at all
    "|(?<=[!-~])[\u200c\u200d]|[\u200c\u200d](?=[!-~])"  # what joins nothing
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]"  # what selects no variant of anything
)


def neutral(text: str) -> str:
    """The same text with everything made visible that would act, or hide."""
    return _ACTING.sub(_visible, text.replace("\r\n", "\n"))


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"
