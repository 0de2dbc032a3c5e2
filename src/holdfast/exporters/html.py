"""A session as one page that shows everything and runs nothing.

Rule 1: whatever was said is text: escaped, never a tag, an attribute, a link or an address.
Rule 2: the page asks for nothing and runs nothing; its policy forbids both, should a reader err.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import get_args

from holdfast.core.neutralise import neutral
from holdfast.exporters.readable import Piece, facts, heading, pieces, speaker
from holdfast.model.log import Entry, SessionInfo, Summary
from holdfast.model.message import Message, Role
from holdfast.model.portable import Fidelity

_STYLE = """
body{margin:0 auto;max-width:60rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;
color:#1a1a1a;background:#fff}
section{border-left:.25rem solid #ccc;margin:1rem 0;padding:.1rem 1rem}
section.user{border-color:#2b6cb0}section.assistant{border-color:#2f855a}
section.tool{border-color:#805ad5}section.summary{border-color:#b7791f;background:#fffaf0}
section.gone{opacity:.7}
h2{font-size:.85rem;color:#555;font-weight:normal}
pre{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;margin:.5rem 0;
font:inherit}
summary{cursor:pointer}
summary code{font:.85rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;
unicode-bidi:isolate;background:#f0f0f0;padding:.1rem .3rem}
details.failed summary{color:#c53030}
details pre{font:.85rem/1.4 ui-monospace,monospace;background:#f6f6f6;padding:.5rem;
max-height:40rem;overflow:auto}
.note{color:#666;font-style:italic}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}h2,.note{color:#aaa}
details pre,summary code{background:#22252b}details.failed summary{color:#fc8181}
section.summary{background:#2a2416}}
"""
_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"

_NO_CHARACTERS = re.compile("[\ufffe\uffff]")

SPEAKERS = frozenset((*get_args(Role), "summary", "context"))


def begin(session: SessionInfo) -> str:
    """The head of the page."""
    title = _text(session.title or session.id)
    rows = "".join(f"<li>{name}: {_text(value)}</li>\n" for name, value in facts(session))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n<ul>\n{rows}</ul>\n"
    )


def entry(told: Entry, *, visible: bool = True) -> str:
    """One entry; nothing where it says nothing."""
    found = "".join(_written(piece) for piece in pieces(told))
    if not found:
        return ""
    gone = "" if visible or not told.is_message else " gone"
    title = _text(heading(told, visible=visible))
    return f'<section class="{_kind(told)}{gone}">\n<h2>{title}</h2>\n{found}</section>\n'


def _kind(told: Entry) -> str:
    """How it is drawn: by a word of ours, whatever it says itself."""
    if isinstance(told.body, Message):
        who = speaker(told.body)
        return who if who in SPEAKERS else "tool"
    return "summary" if isinstance(told.body, Summary) else "marker"


def end(fidelity: Fidelity) -> str:
    """What was carried, what was not, and the end of the page."""
    return (
        "<footer>\n<h2>Carried</h2>\n"
        f"{_listed(fidelity.carried)}<h2>Not carried</h2>\n{_listed(fidelity.not_carried)}"
        "</footer>\n</body>\n</html>\n"
    )


def _listed(lines: tuple[str, ...]) -> str:
    return "<ul>\n" + "".join(f"<li>{_text(line)}</li>\n" for line in lines) + "</ul>\n"


def _written(piece: Piece) -> str:
    if piece.kind == "said":
        return f"<pre>{_text(piece.text)}</pre>\n"
    if piece.kind == "note":
        return f'<p class="note">{_text(piece.text)}</p>\n'
    about = f" <code>{_text(piece.about)}</code>" if piece.about else ""
    kind = ' class="failed"' if piece.failed else ""
    return (
        f"<details{kind}>\n<summary>{_text(piece.label)}{about}</summary>\n"
        f"<pre>{_text(piece.text)}</pre>\n</details>\n"
    )


def _text(text: str) -> str:
    """A text that is nothing else: escaped, with what would act or hide made visible."""
    return escape(
        _NO_CHARACTERS.sub("\ufffd", neutral(text.replace("\r\n", "\n").replace("\r", "\n"))),
        quote=True,
    )
