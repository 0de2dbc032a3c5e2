"""What becomes of the items of a ledger: kept as themselves, not by what looks like them."""

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks.retention import retention
from holdfast.model.message import assistant, user
from tests.ledger.saying import said


def test_a_name_is_not_kept_by_a_longer_one() -> None:
    asked = ("Raise `rate_1` by 3 percent.", "Raise `rate_19` by 19 percent.")
    known = ledger(said(user(asked[0]), assistant("done"), user(asked[1])))
    report = retention(known, f"The user asked: {asked[1]}")
    states = {(one.kind, one.text): one.state for one in report.items}
    assert states["request", asked[1]] == "retained"
    assert states["request", asked[0]] == "missing"
    assert states.get(("identifier", "rate_1"), "missing") == "missing"
