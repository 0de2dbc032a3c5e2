"""Laws of the ladder: every policy, in small windows, with summarisers of every temper."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.stores.sqlite.store import SqliteStore
from tests.properties.climbs import Climber
from tests.properties.ladders import POLICIES, TEMPERS, WINDOWS, Talk, engine, talks

EXAMPLES = int(os.environ.get("HOLDFAST_TALKS", "15"))
tempers = st.sampled_from(["", *TEMPERS])
lawful = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)


@pytest.mark.parametrize("name", POLICIES, ids=lambda name: Path(name).stem)
@lawful
@given(talks, st.sampled_from(WINDOWS), tempers, st.integers(0, 2), st.booleans())
def test_every_law_holds_whatever_happens(
    name: str, talk: Talk, window: int, temper: str, model: int, weak: bool
) -> None:
    """Laws 1 to 8, after every window: `climbs.py` says what each means, `test_ladder_mutants.py`
    that each is noticed when it is broken."""
    with engine(window) as hf:
        Climber(hf, name, temper, model, weak).live(talk)


@settings(lawful, max_examples=max(EXAMPLES // 2, 5))
@given(
    st.sampled_from(POLICIES), talks, talks, st.sampled_from(WINDOWS), tempers, st.integers(0, 2)
)
def test_a_session_that_is_opened_again_keeps_the_laws(
    name: str, talk: Talk, more: Talk, window: int, temper: str, model: int
) -> None:
    """On a file, closed in between; what stood stands, and what was pinned or undone still is."""
    with TemporaryDirectory() as home:
        path = Path(home) / "log.db"
        with engine(window, SqliteStore.open(path)) as hf:
            first = Climber(hf, name, temper, model, weak=False)
            first.live(talk)
        with engine(window, SqliteStore.open(path)) as hf:
            Climber(hf, name, temper, model, weak=True, id=first.s.id).live(more)
