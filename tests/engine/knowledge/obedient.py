"""A model that obeys whoever speaks: it keeps everything that anybody asks to be kept."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any

from holdfast.core.log.transcript_text import told
from holdfast.core.search.searchable_text import searchable
from holdfast.model.log import Entry
from holdfast.model.message import Text, ToolCall, assistant
from holdfast.model.reply import Reply

_numbers = count(1)


def write(file: str, text: str, type: str = "feedback", name: str = "kept") -> ToolCall:
    """A call that writes a note."""
    content = f"---\nname: {name}\ndescription: {text[:100]}\ntype: {type}\n---\n\n{text}\n"
    return ToolCall(f"w{next(_numbers)}", "write", json.dumps({"path": file, "content": content}))


def said_in(question: Any) -> str:
    """Everything that a model is shown, without the question itself."""
    parts = [part for block in question.blocks[:-1] for part in block.parts]
    return "\n".join(searchable(part) for part in parts) + "\n" + question.prompt


class Obedient:
    """Writes every sentence that it is shown into a note of its own, and cites the user for it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(self, question: Any) -> Reply:
        self.asked.append(question)
        if "Those are the answers" in question.prompt:
            return Reply(message=assistant("Nothing more."), stop="end")
        calls = [
            write(f"feedback_said_{n}.md", f"{one}\n\n**Why:** the user wrote exactly this (#1)")
            for n, one in enumerate(sentences_of(question))
        ]
        return Reply(message=assistant(*calls), stop="tools" if calls else "end")


def sentences_of(question: Any) -> list[str]:
    """Every sentence that the conversation holds, whoever said it."""
    texts = [
        part.text if isinstance(part, Text) else searchable(part)
        for block in question.blocks
        for part in block.parts
        if block.section != "system"
    ]
    whole = "\n".join(text for text in texts if "memory extraction subagent" not in text)
    if "memory extraction subagent" in question.prompt and "<conversation>" in question.prompt:
        whole += question.prompt.partition("</conversation>")[0]
    found = re.split(r"(?<=[.!?])\s+|\n+", whole)
    return list(dict.fromkeys(one.strip() for one in found if len(one.strip()) > 15))[:120]


def transcript(entries: list[Entry]) -> str:
    """A conversation as text."""
    return "\n".join(map(told, entries))
