"""How the text of a section is said: its tag, what stands around it, and what it is said with.

Rule 1: text that was given never contains a mark that could pass for scaffolding, whatever stands
        around it.
Rule 2: the sections of a bundle with a tag of its own are one text; of any other bundle they stay
        blocks, which a wire format may write as parts of one message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from holdfast.core.tokens.count import MESSAGE
from holdfast.core.tokens.estimate import recurring
from holdfast.core.window.repair import is_picture
from holdfast.core.window.scaffold import ENVIRONMENT, around, elements, environment, escape
from holdfast.model.message import Media, Part, Text
from holdfast.model.policy import Place, Policy
from holdfast.model.window import Block, SectionName

TEXT = "{text}"

_KEY = re.compile(r"\{([A-Za-z_][\w.-]*)\}")


def shape(place: Place, content: str, values: Mapping[str, str], *, sealed: bool = False) -> str:
    """A section's text as it is said; `sealed` content is escaped already."""
    if place.tag == ENVIRONMENT and (told := elements(content)):
        text = environment(told)
    elif place.tag:
        text = around(place.tag, content if sealed else escape(content))
    else:
        text = escape(content) if place.form and not sealed else content
    return _formed(place.form, text, values) if place.form else text


def _formed(form: str, text: str, values: Mapping[str, str]) -> str:
    before, _, after = form.partition(TEXT)
    return f"{_filled(before, values)}{text}{_filled(after, values)}"


def _filled(form: str, values: Mapping[str, str]) -> str:
    """A form with the values it names; nothing where one of them is not known."""
    if not values.keys() >= set(_KEY.findall(form)):
        return ""
    return _KEY.sub(lambda found: escape(values[found[1]]), form)


def framed_pictures(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of a user's message, each picture in a tag: one from this machine has a number."""
    made: list[Part] = []
    local = 0
    for part in parts:
        if not (isinstance(part, Media) and is_picture(part)):
            made.append(part)
            continue
        local += not part.url
        name = "" if part.url else f' name="[Image #{local}]"'
        made += [Text(f"<image{name}>", scaffold="image"), part, Text("</image>", scaffold="image")]
    return tuple(made)


USUAL = frozenset({
    "cwd", "shell", "current_date", "date", "timezone", "network", "subagents", "platform",
    "os_version", "model",
})  # fmt: skip
"""Values that agents give as a matter of course: a policy may leave them out of its environment."""


def current_date(context: str) -> str:
    """The date that a context names, for a policy that has a place of its own for it."""
    told = elements(context)
    return told.get("current_date", "") or told.get("date", "")


def shown_values(context: str, policy: Policy) -> str:
    """The context with the usual values that a policy shows, in its order, then whatever else was
    given; as it is where the policy names none, or where it is no list of values."""
    told = elements(context) if policy.environment else {}
    if not told:
        return context
    kinds = {name: name.partition(".")[0] for name in told}
    listed = [name for wanted in policy.environment for name in told if kinds[name] == wanted]
    own = [name for name in told if kinds[name] not in USUAL and name not in listed]
    shown = {name: told[name] for name in (*listed, *own)}
    return "\n".join(f"{name}: {value}" for name, value in shown.items())


def bundled(blocks: Sequence[Block], policy: Policy) -> list[Block]:
    """The blocks, with those of a bundle that is one text made one."""
    if not policy.bundles:
        return [*blocks]
    return [*_bundled(blocks, policy)]


def _bundled(blocks: Sequence[Block], policy: Policy) -> Iterator[Block]:
    named = {bundle.name: bundle for bundle in policy.bundles}
    for name, several in groupby(blocks, lambda block: block.bundle):
        bundle = named.get(name)
        if bundle is None:
            yield from several
            continue
        inside = [*several]
        texts = [part.text for block in inside for part in block.parts if isinstance(part, Text)]
        text = "\n".join(filter(None, (bundle.before, *texts, bundle.after)))
        text = around(bundle.tag, text) if bundle.tag else text
        yield replace(
            inside[0],
            parts=(Text(text, scaffold=bundle.tag or name),),
            tokens=recurring(text) + MESSAGE,
            source=", ".join(block.source for block in inside),
        )


VOLATILE: frozenset[SectionName] = frozenset({"chat_files", "reminder"})
"""Sections that may differ from call to call without a marker."""

CONVERSATION: frozenset[SectionName] = frozenset({"history", "current"})


def breakpoints(blocks: Sequence[Block], tools: bool, policy: Policy) -> tuple[int, ...]:
    """Where a cache may end: behind the tools and the sections that a policy names; where it names
    none, behind the stable sections, the history, and the newest block that does not change."""
    first = {-1} if tools else set[int]()
    if policy.cache_marks:
        last = {block.section: index for index, block in enumerate(blocks)}
        return tuple(sorted(first | {last[name] for name in policy.cache_marks if name in last}))
    changing = next((i for i, b in enumerate(blocks) if b.section in VOLATILE), len(blocks))
    talk = next((i for i, b in enumerate(blocks) if b.section in CONVERSATION), changing)
    turn = next((i for i, b in enumerate(blocks) if b.section == "current"), changing)
    marks = {min(talk, changing) - 1, min(turn, changing) - 1, changing - 1}
    return tuple(sorted({index for index in marks if index >= 0} | first))
