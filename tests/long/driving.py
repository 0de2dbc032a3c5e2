"""One long conversation from beginning to end: who is spoken to, who is killed, what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from holdfast.testing import StrictServer
from tests.long.judging import judge
from tests.long.player import SUMMARIES, Player, weigh
from tests.long.story import LOG, Turn, story
from tests.long.windows import configured

ROOT = Path(__file__).resolve().parents[2]

WHO = {
    "anthropic": ("anthropic", "claude-sonnet-4-6", "ANTHROPIC"),
    "openai-responses": ("openai", "gpt-5", "OPENAI"),
    "openai-chat": ("openai", "gpt-4o", "OPENAI"),
    "gemini": ("google", "gemini-2.5-pro", "GOOGLE_GEMINI"),
}
"""By format: the provider, the model, and what its variables begin with."""

DELAYS = (0.0, 0.0, 0.002, 0.01, 0.03, 0.08)
"""How long after a request has come the process is killed, in seconds."""


LATER = 12
"""So many turns a kill waits for a summary to be asked for."""


class Trial(Struct, frozen=True, kw_only=True):
    """What is tried."""

    format: str
    window: int
    turns: int
    kills: int
    seed: int = 1
    policy: str = "holdfast"
    summaries: tuple[str, ...] = SUMMARIES
    """What the model answers when it is asked for one; none: no model is asked."""


class Outcome(Struct, kw_only=True):
    """What came of it."""

    trial: Trial
    turns: int = 0
    requests: int = 0
    largest: int = 0
    refused: tuple[str, ...] = ()
    kills: int = 0
    compactions: Counter[str]
    summaries: Counter[str]
    followed: dict[str, bool]
    searched: int = 0
    wrong: tuple[str, ...] = ()
    """What must not be: something lost, said twice, done twice, not valid."""
    seconds: float = 0.0

    @property
    def lost(self) -> tuple[str, ...]:
        """What was planted and was no longer followed."""
        return tuple(f"{name} was lost" for name, kept in self.followed.items() if not kept)

    @property
    def fine(self) -> bool:
        return not self.wrong and not self.refused and not self.lost


class Killer:
    """Ends a process at moments that a seed decides; it is told of every request."""

    def __init__(self, trial: Trial) -> None:
        chance = Random(f"kills {trial.seed}")
        turns = range(3, max(trial.turns - LATER - 2, 4))
        chosen = sorted(chance.sample(turns, min(trial.kills, len(turns))))
        self._due = [(turn, chance.choice(DELAYS), chance.random() < 0.3) for turn in chosen]
        self.process: subprocess.Popen[str] | None = None
        self.kills = 0

    def __call__(self, summary: bool, turn: int) -> float:
        """Look at a request; how slowly it is to be answered."""
        if not self._due or turn < self._due[0][0]:
            return 0.0
        _, delay, waits = self._due[0]
        if waits and not summary and turn < self._due[0][0] + LATER:
            return 0.0  # this one is killed while it waits for a summary, if one is near
        self._due.pop(0)
        self.kills += 1
        threading.Timer(delay, self._kill, (self.process,)).start()
        return 0.004

    @staticmethod
    def _kill(process: subprocess.Popen[str] | None) -> None:
        assert process is not None
        process.send_signal(signal.SIGKILL)


def play(trial: Trial, folder: Path) -> Outcome:
    """Hold the conversation; what came of it."""
    began = time.monotonic()
    turns = story(trial.turns, trial.seed)
    killer = Killer(trial)
    player = Player(turns, trial.seed, summaries=trial.summaries, meanwhile=killer)
    work = prepared(folder)
    with StrictServer(player, count=weigh, window=trial.window) as server:
        talk = Talk(trial, folder, work, server, killer)
        talk.hold(turns)
        refused = tuple(f"{one.rule}: {one.refusal}" for one in server.refused)
    told = judge(folder / "log.db", work, turns, talk.kept, talk.done)
    return Outcome(
        trial=trial,
        turns=len(talk.done),
        requests=player.asked,
        largest=player.largest,
        refused=refused,
        kills=talk.deaths,
        compactions=told.compactions,
        summaries=player.summaries,
        followed=told.followed,
        searched=len(player.searched),
        wrong=(*talk.wrong, *told.wrong),
        seconds=time.monotonic() - began,
    )


def prepared(folder: Path) -> Path:
    """The directory that is worked in, with files of every size."""
    work = folder / "work"
    for name in ("src", "logs", "legacy", "modern"):
        (work / name).mkdir(parents=True)
    for part in range(8):
        lines = [f"value_{n} = {n * part}" for n in range(0, 400 * (1 + part**3), 1 + part)]
        (work / f"src/part_{part}.py").write_text("\n".join(lines) + "\n")
    noise = [f"compiled unit {n} without a word" for n in range(3_000)]
    noise[1_500] = "build id: b-91f2c-0455"
    (work / LOG).write_text("\n".join(noise) + "\n")
    (work / "legacy/parser.py").write_text("old = 1\n")
    (work / "src/fix.py").write_text("fixed = 0\n")
    check = work / "check.sh"
    check.write_text("#!/bin/sh\necho checked $1\necho checked $1 >> checks.log\n")
    check.chmod(0o755)
    return work


class Talk:
    """One conversation with a process that may be killed at any moment."""

    def __init__(
        self, trial: Trial, folder: Path, work: Path, server: StrictServer, killer: Killer
    ) -> None:
        self._trial, self._folder, self._work = trial, folder, work
        self._server, self._killer = server, killer
        self._session = ""
        self._process: subprocess.Popen[str] | None = None
        self.deaths = 0
        self.kept: list[int] = []
        """Turns whose words were acknowledged."""
        self.done: dict[int, str] = {}
        self.wrong: list[str] = []

    def hold(self, turns: list[Turn]) -> None:
        """Say everything, in order; a turn that was cut by a kill is gone on with."""
        try:
            for turn in turns:
                while turn.number not in self.done and not self.wrong:
                    self._say(turn)
        finally:
            if self._process:
                self._end(self._process)

    def _say(self, turn: Turn) -> None:
        process = self._process or self._begun()
        assert process.stdin
        assert process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"number": turn.number, "text": turn.text}) + "\n")
            process.stdin.flush()
        while line := process.stdout.readline():
            told: dict[str, Any] = json.loads(line)
            self._session = told.get("ready", self._session)
            if "kept" in told:
                self.kept.append(told["kept"])
            if "done" in told:
                self.done[told["done"]] = told["text"]
                return
        self._died(process)

    def _begun(self) -> subprocess.Popen[str]:
        trial = self._trial
        provider, model, named = WHO[trial.format]
        base = self._folder / "config"
        told = {
            "session": self._session, "store": str(self._folder / "log.db"), "model": model,
            "provider": provider, "format": trial.format, "directory": str(self._work),
            "policy": trial.policy, "summaries": bool(trial.summaries),
        }  # fmt: skip
        environ = configured(base, {model: trial.window}) | {
            f"{named}_BASE_URL": self._server.url(provider),
            f"{named.removeprefix('GOOGLE_')}_API_KEY": "sk-long-0123456789",
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.long.runner", json.dumps(told)],
            cwd=self._work, env={**os.environ, **environ}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._killer.process = self._process
        return self._process

    def _died(self, process: subprocess.Popen[str]) -> None:
        said = self._end(process)
        self._process = None
        if process.returncode == -signal.SIGKILL:
            self.deaths += 1
        else:
            self.wrong.append(f"it ended with {process.returncode}: {said[-1500:]}")

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> str:
        """What a process said to nobody, once it is gone."""
        with suppress(BrokenPipeError):
            return process.communicate(timeout=60)[1]
        return ""
