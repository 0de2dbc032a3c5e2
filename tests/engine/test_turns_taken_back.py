"""The last turns are taken back, and brought back: nothing leaves the log."""

import pytest

import holdfast
from holdfast.engine.blocking import Session
from holdfast.errors import InvalidRequest
from holdfast.model.message import assistant


def visible(session: Session) -> list[str]:
    return [one.body.text for one in session.visible() if one.is_message]  # type: ignore[union-attr]


@pytest.mark.seed("000", 40)
def test_the_last_turns_leave_whole_and_an_undo_brings_them_back() -> None:
    with holdfast.open("memory:") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for n in range(4):
            s.user(f"ask {n}")
            s.append(assistant(f"answer {n}"))
        before = s.size()
        s.rewind_turns(2)
        assert visible(s) == ["ask 0", "answer 0", "ask 1", "answer 1"]
        s.user("something else")
        assert visible(s)[-1] == "something else"
        s.undo()
        assert "answer 3" in visible(s)
        assert s.size() > before
        with pytest.raises(InvalidRequest, match="taken back"):
            s.rewind_turns(0)
        with pytest.raises(InvalidRequest, match="only"):
            s.rewind_turns(40)
