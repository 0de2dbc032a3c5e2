"""Transcripts whose replies have repeated, constant or redacted ids: every call counts, once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, open
from holdfast.engine.client import drive
from holdfast.model.span import EVERYTHING

NATIVE = "5f6f2b40-0000-4000-8000-00000000000a"


class Transcript:
    """Records of Claude Code, each hanging on the one before."""

    def __init__(self, native: str = NATIVE) -> None:
        self.lines: list[dict[str, Any]] = []
        self.native = native

    def _add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        n = len(self.lines)
        self.lines.append({
            "type": kind, "uuid": f"{self.native}-{n}", "sessionId": self.native, "cwd": "/p",
            "parentUuid": f"{self.native}-{n - 1}" if n else None,
            "timestamp": f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}.000Z", "message": message,
            **more,
        })  # fmt: skip

    def user(self, content: Any) -> None:
        self._add("user", {"role": "user", "content": content})

    def reply(self, id: str, read: int, *content: dict[str, Any], wrote: int = 5) -> None:
        usage = {"input_tokens": read, "output_tokens": wrote}
        message = {
            "id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": list(content),
            "stop_reason": "tool_use", "usage": usage,
        }  # fmt: skip
        self._add("assistant", message, requestId="req_redacted")

    def save(self, directory: Path) -> Path:
        file = directory / f"{self.native}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return file


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": f"/{id}"}}


def result(id: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": f"content of {id}"}]


def used(hf: Holdfast, session: str) -> list[int]:
    return [one.usage.input for one in drive(hf.engine.store.calls.calls(session))]


def sessions_of(hf: Holdfast, file: Path) -> tuple[str, ...]:
    return tuple(id for report in hf.import_from(file) for id in report.sessions)


@pytest.mark.parametrize("id", ["msg_redacted", "", "[REDACTED]"])
def test_replies_of_one_id_between_results_and_questions_are_each_a_call(
    tmp_path: Path, id: str
) -> None:
    told = Transcript()
    for n in range(4):
        told.user(f"question {n}")
        told.reply(id, 100 * n + 10, use(f"a{n}"))
        told.user(result(f"a{n}"))
        told.reply(id, 100 * n + 50, text(f"answer {n}"))
    with open("memory:") as hf:
        (session,) = sessions_of(hf, told.save(tmp_path))
        assert used(hf, session) == [10, 50, 110, 150, 210, 250, 310, 350]
        roles = [one.body.role for one in drive(hf.engine.store.log.read(session, EVERYTHING))]  # type: ignore[union-attr]
        assert roles == ["user", "assistant", "tool", "assistant"] * 4


def test_pieces_of_one_reply_with_a_result_between_them_are_one_call(tmp_path: Path) -> None:
    told = Transcript()
    told.user("read both")
    told.reply("msg_1", 10, use("a"), wrote=3)
    told.user(result("a"))
    told.reply("msg_1", 10, use("b"), wrote=9)
    told.user(result("b"))
    with open("memory:") as hf:
        (session,) = sessions_of(hf, told.save(tmp_path))
        (call,) = drive(hf.engine.store.calls.calls(session))
        assert call.usage.output == 9


def test_a_file_that_grows_has_each_call_once(tmp_path: Path) -> None:
    whole = Transcript()
    with open(tmp_path / "s.db") as hf:
        for n in range(4):
            whole.user(f"question {n}")
            whole.reply("constant", 100 * n, text("the beginning of"), wrote=1)
            sessions_of(hf, whole.save(tmp_path))
            whole.reply("constant", 100 * n, text("an answer"), wrote=8)
            (session,) = sessions_of(hf, whole.save(tmp_path))
            found = drive(hf.engine.store.calls.calls(session))
            assert [one.usage.output for one in found] == [8] * (n + 1)


def test_another_file_with_the_same_ids_has_its_own_calls(tmp_path: Path) -> None:
    def told(native: str, words: str) -> Path:
        made = Transcript(native)
        for n in range(3):
            made.user(f"{words} {n}")
            made.reply(f"chatcmpl-{n}", 10 * n + 1, text(f"{words} answer {n}"))
        return made.save(tmp_path)

    with open("memory:") as hf:
        for words, native in (("one", NATIVE), ("two", NATIVE.replace("a", "b"))):
            (session,) = sessions_of(hf, told(native, words))
            assert used(hf, session) == [1, 11, 21]
        assert hf.costs("model")[0].calls == 6


def test_a_copy_that_goes_on_does_not_count_what_it_shares_again(tmp_path: Path) -> None:
    one = Transcript()
    one.user("question")
    one.reply("msg_1", 10, text("answer"))
    copy = Transcript(NATIVE.replace("a", "c"))
    copy.lines = [{**line, "sessionId": copy.native} for line in one.lines]
    copy.user("another question")
    copy.reply("msg_2", 20, text("another answer"))
    with open("memory:") as hf:
        (first,) = sessions_of(hf, one.save(tmp_path))
        (second,) = sessions_of(hf, copy.save(tmp_path))
        assert (used(hf, first), used(hf, second)) == ([10], [20])


def _lines_of_pi(ids: Iterable[str]) -> Iterable[dict[str, Any]]:
    yield {
        "type": "session",
        "version": 3,
        "id": "p1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/p",
    }
    parent = None
    for n, id in enumerate(ids):
        for role, content in (("user", f"question {n}"), ("assistant", [text(f"answer {n}")])):
            message: dict[str, Any] = {
                "role": role,
                "content": content,
                "timestamp": 1767225600000 + n,
            }
            if role == "assistant":
                message |= {
                    "provider": "ollama", "model": "m", "responseId": id, "stopReason": "stop",
                    "usage": {"input": n + 1, "output": 1, "cacheRead": 0, "cacheWrite": 0},
                }  # fmt: skip
            name = f"{role[0]}{n}"
            yield {
                "type": "message", "id": name, "parentId": parent, "message": message,
                "timestamp": f"2026-01-01T00:00:{n:02d}.000Z",
            }  # fmt: skip
            parent = name


def test_pi_with_a_local_server_that_repeats_its_ids(tmp_path: Path) -> None:
    file = tmp_path / "2026-01-01T00-00-00-000Z_p1.jsonl"
    lines = _lines_of_pi(["chatcmpl-0", "chatcmpl-0", "chatcmpl-1", "chatcmpl-0"])
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with open("memory:") as hf:
        (session,) = sessions_of(hf, file)
        assert used(hf, session) == [1, 2, 3, 4]
