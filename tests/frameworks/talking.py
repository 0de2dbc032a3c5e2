"""A conversation of sixty turns with tools on a small window, for every adapter alike."""

import re
from pathlib import Path
from typing import Any

import holdfast
from holdfast.engine.bridge import drive_all
from holdfast.engine.client import Holdfast
from holdfast.engine.usage.costs import calls_of
from holdfast.files import config_home
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Think, answer
from holdfast.testing.strict.script import tokens

TURNS = 60
WINDOW = 8_192
SYSTEM = "You keep a list of items. Look each one up before you speak of it."


def small(path: Path, model: str) -> Holdfast:
    """A store whose model holds little, as the user's own file says."""
    home = config_home()
    home.mkdir(parents=True)
    told = f'["{model}"]\nwindow = {WINDOW}\noutput_limit = 1000\n'
    (home / "profiles.toml").write_text(told, "utf-8")
    hf = holdfast.open(path)
    assert hf.catalogue.profile(model).window == WINDOW
    return hf


def resumed(hf: Holdfast, model: str) -> Any:
    """The one session of a store; a new one where there is none."""
    found = hf.sessions()
    return hf.session(found[0].id) if found else hf.session(model=model)


def question(n: int) -> str:
    return f"What about item-{n:03d}? Remember that its colour is shade-{n:03d}."


def looked_up(n: int) -> str:
    """What the tool answers: long enough that sixty of them never fit."""
    return f"record of item-{n:03d}: " + " ".join(f"field{i}={n * i}" for i in range(150))


def model(asked: Any) -> Any:
    """Looks two things up at once, then answers: what was asked last is in the newest messages."""
    said = str(asked.body)
    n = int(re.findall(r"What about item-(\d{3})", said)[-1])
    if f"record of item-{n:03d}" in said.rpartition(f"What about item-{n:03d}")[2]:
        return answer(f"Item-{n:03d} is noted.")
    return answer(Think("Let me see."), "Looking.", Ask("look_up", {"n": n}), Ask("count"))


def check(server: StrictServer, s: Any) -> None:
    """Nothing was refused or too large, and everything that was said is in the log."""
    assert server.refused == []
    assert 2 * TURNS <= len(server.asked) <= 3 * TURNS  # a look-up may be compacted, and come again
    assert max(tokens(asked.body) for asked in server.asked) <= WINDOW
    said = [e.body for e in s.entries() if isinstance(e.body, Message)]
    texts = [body.text for body in said]
    results = [part.output for body in said if body.role == "tool" for part in body.parts]  # type: ignore[union-attr]
    for n in range(TURNS):
        assert texts.count(question(n)) == 1
        assert texts.count(f"Item-{n:03d} is noted.") == 1
        assert looked_up(n) in results
    assert sum(map(len, (body.calls for body in said))) == len(results) >= 2 * TURNS
    assert s.info.last_marker > 0
    calls = list(drive_all(calls_of(s.store, s.id)))
    assert len([call for call in calls if call.cause == "turn"]) == len(server.asked)
    assert all(call.usage.prompt and call.usage.output for call in calls)
    assert s.cost > 0
