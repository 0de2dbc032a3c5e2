"""Keeping a cache warm against a real server: the same request, one token, no entry, no more."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from holdfast.agent.keep_warm import Idle
from holdfast.engine.client import Holdfast, Session, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import Ulids
from holdfast.engine.plugins import open_store, provider
from holdfast.files import config_home
from holdfast.model.reply import Usage
from holdfast.ports import Provider
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer

MODEL = "claude-sonnet-4-6"
SECOND = 1_000


class Clock:
    at = 1_760_000_000_000

    def now(self) -> int:
        return self.at


class Told:
    """A server, a session that was just answered, and a clock."""

    def __init__(self, server: StrictServer, hf: Holdfast, clock: Clock, model: str) -> None:
        self.server, self.hf, self.clock = server, hf, clock
        self.session: Session = hf.session(model=model)
        self.provider: Provider = self.open()
        self.ask("hello")

    def open(self) -> Provider:
        url = self.server.url("anthropic")
        return provider("anthropic", "anthropic", key="sk-test", url=url)

    def ask(self, text: str) -> None:
        self.session.user(text)
        self.session.send(self.provider, system="Be careful.")

    def warmed(self) -> int:
        """How often the cache was kept warm."""
        found = {one.name: one.calls for one in self.hf.costs("cause")}
        return found.get("keep-warm", 0)


@contextmanager
def telling(tmp_path: Path, model: str = MODEL) -> Iterator[Told]:
    clock = Clock()
    usage = Usage(input=10, cache_write=9_000, output=5)
    with StrictServer(lambda asked: answer("Well.", usage=usage)) as server:
        engine = Engine(
            open_store(str(tmp_path / "log.db")), clock=clock, ids=Ulids(clock), lock=ThreadLock
        )
        with Holdfast(engine) as hf:
            told = Told(server, hf, clock, model)
            with closing(told.provider):
                yield told


def test_the_last_request_is_sent_again_for_one_token(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        s, clock = told.session, told.clock
        assert s.warm_in() == 270 * SECOND
        assert s.keep_warm(told.provider) is None  # not yet
        entries, cost, last = s.info.head, s.cost, told.server.asked[-1].body
        clock.at += 271 * SECOND
        call = s.keep_warm(told.provider)
        assert call is not None
        assert (call.cause, call.outcome) == ("keep-warm", "done")
        sent = told.server.asked[-1].body
        assert sent.pop("max_tokens") == 1
        assert sent == {name: value for name, value in last.items() if name != "max_tokens"}
        assert s.refresh().head == entries
        assert s.cost > cost
        assert s.warm_in() == 270 * SECOND  # it is warm again
        for _ in range(5):
            clock.at += 271 * SECOND
            s.keep_warm(told.provider)
        assert told.warmed() == 3
        assert s.warm_in() is None
        assert not [one.rule for one in told.server.asked if one.rule]
        assert s.status()["context_window"]["current_usage"]["output_tokens"] == 5
        told.ask("and again")
        assert s.warm_in() == 270 * SECOND


def test_a_cache_that_ran_out_is_left_alone(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        told.clock.at += 300 * SECOND
        assert told.session.warm_in() is None
        assert told.session.keep_warm(told.provider) is None
        assert len(told.server.asked) == 1


def test_it_never_reaches_a_cap(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        told.clock.at += 271 * SECOND
        told.session.set_caps(session=told.session.cost + 0.001)
        assert told.session.keep_warm(told.provider) is None
        assert told.warmed() == 0


def test_another_window_is_not_kept_warm(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        told.clock.at += 271 * SECOND
        told.session.pin(fact="It must stay.")
        assert told.session.warm_in() is None
        told.session.set_policy("codex")
        assert told.session.keep_warm(told.provider) is None


def test_while_nobody_types_it_goes_on_until_it_no_longer_pays(tmp_path: Path) -> None:
    config_home().mkdir(parents=True, exist_ok=True)
    profile = "[brief]\nextends = 'claude-sonnet-4-6'\ncache_seconds = 30\n"
    (config_home() / "profiles.toml").write_text(profile)
    with telling(tmp_path, "brief") as told:
        Idle(told.session, told.open).wait()
        assert told.warmed() == 3


def test_whoever_comes_back_ends_it(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        with Idle(told.session, told.open) as idle:
            pass
        idle.wait()  # at once: they have come back
        assert told.warmed() == 0


def test_a_failure_is_a_row_and_the_last_try(tmp_path: Path) -> None:
    with telling(tmp_path) as told:
        told.clock.at += 271 * SECOND
        gone = provider("anthropic", "anthropic", key="sk-test", url="http://127.0.0.1:9")
        with closing(gone):
            call = told.session.keep_warm(gone)
        assert call is not None
        assert call.outcome == "failed"
        assert told.session.warm_in() is None
        assert told.warmed() == 1
