"""Laws of the ladder: every policy, in small windows, with summarisers of every temper."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
