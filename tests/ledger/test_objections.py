"""A summary that contradicts the log is refused; one that says the same in other words is not."""

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks.objections import objections
from holdfast.model.ledger import Ledger
from holdfast.model.span import Span
from tests.ledger.saying import asked, done, ran, said, used

PATCH = "*** Begin Patch\n*** Update File: src/shop/cart.py\n@@\n-a\n+b\n*** End Patch"
OVERWRITTEN = "The file src/shop/price.py has been updated."


def log() -> Ledger:
    """A session in which one test run failed and a later one of another kind went well."""
    return ledger(
        said(
            asked("The cart total is wrong when a coupon is used, see src/shop/cart.py"),
            *used("Read", {"file_path": "/repo/src/shop/cart.py"}, "1\tdef total(): ..."),
            *ran("python -m pytest -q tests/shop", 1, "1 failed, 3 passed"),
            *used("apply_patch", PATCH, '{"output":"Success.","metadata":{"exit_code":0}}'),
            *ran("ruff check src"),
            *ran("npm run build", None, "built"),
            done("I changed `apply_coupon` in `src/shop/cart.py`; commit 4f2a91c."),
            asked("Now let the checkout page show the reduced price"),
            *used("Edit", {"file_path": "src/shop/price.py"}, OVERWRITTEN),
            *ran("git diff --stat", 0),
        )
    )


OPEN = "Open: the checkout page has to show the reduced price. "

REFUSED = [
    ("status", "`python -m pytest -q tests/shop` passed."),
    ("status", "`pytest` passes."),
    ("status", "All tests pass."),
    ("status", "The tests are green now."),
    ("status", "The tests passed without errors."),
    ("status", "`ruff check src` failed."),
    ("status", "`ruff check` exited with code 1."),
    ("status", "`pytest -q` exited with code 0."),
    ("status", "`pytest` finished with exit code 2."),
    ("status", "Ran `ruff check src`: 3 errors."),
    ("status", "The run of python -m pytest -q tests/shop was successful."),
    ("status", "`ruff check src` did not pass."),
    ("status", "`ruff check src` and `pytest` passed."),
    ("status", "Die Tests liefen: `pytest` war erfolgreich."),
    ("status", "`ruff check src` ist fehlgeschlagen."),
    ("status", "`pytest` 已经通过。"),
    ("status", "`ruff check src` 失败了。"),
    ("status", "`pytest` ha pasado: con éxito."),
    ("status", "`ruff check src` a échoué."),
    ("renamed-file", "The fix is in `src/shop/basket_cart.py`."),
    ("renamed-file", "The fix is in src/store/cart.py."),
    ("renamed-file", "Changed `cart.ts`."),
    ("renamed-file", "Changed src/shop/carts.py and src/shop/price.py."),
    ("invented-path", "See docs/architecture/overview.md for more."),
    ("invented-path", "A helper was put into `helpers/money.go`."),
    ("invented-path", "Everything was copied to /srv/www/production/."),
    ("invented-command", "Then `git push origin main` was run."),
    ("invented-command", "`pytest -x` was used."),
    ("invented-command", "Ran `ruff check --fix src`."),
    ("invented-command", "\n```sh\ndocker compose up\n```"),
    ("invented-identifier", "The function `apply_voucher` was changed."),
    ("invented-identifier", "It was committed as 9c8b7a6."),
    ("invented-identifier", "See https://example.org/coupons for details."),
    ("invented-identifier", "This closes PR #77."),
    ("invented-identifier", "`CartTotalCalculator` does the sum."),
    ("file-state", "Deleted `src/shop/cart.py`."),
    ("file-state", "The session removed src/shop/price.py."),
]


@pytest.mark.parametrize(("rule", "words"), REFUSED)
def test_what_the_log_does_not_bear_out_is_refused(rule: str, words: str) -> None:
    assert rule in {one.rule for one in objections(log(), OPEN + words)}


ACCEPTED = [
    "`python -m pytest -q tests/shop` failed.",
    "`pytest` still fails with one failure.",
    "The tests fail: 1 failed, 3 passed.",
    "`ruff check src` passed without errors.",
    "`ruff check` is clean; no errors were found.",
    "`pytest` failed but `ruff check src` passed.",
    "Linting (`ruff check src`) succeeded with exit code 0.",
    "`pytest -q` exited with code 1.",
    "The next step is to make `pytest` pass.",
    "`pytest` should pass once the page is done.",
    "The user wants all tests to pass.",
    "`npm run build` was run; its exit status is not known.",
    "The build passed.",
    "The build failed.",
    "The cart was fixed in `src/shop/cart.py`, in `apply_coupon()`.",
    "cart.py now takes coupons into account; price.py is in progress.",
    "Read /repo/src/shop/cart.py.",
    "Work is in …/shop/cart.py and in src/shop/.",
    "Commit 4f2a91c holds the first part.",
    "Only `git diff --stat` was looked at since.",
    "Coupons and/or prices are handled; see the client/server split and Node.js.",
    "Version 3.14 is used, e.g. for the I/O.",
    "Removed the old branch from `src/shop/cart.py`.",
    "Alle Prüfungen mit `ruff check src` waren erfolgreich, `pytest` ist fehlgeschlagen.",
    "`ruff check src` 通过了，但是 `pytest` 失败。",
    "`pytest` n'a pas réussi.",
    "`ruff check src` no dio errores.",
    "The user asked for `shop/cart.py` to handle coupons.",
    "The failure of `tests/shop` is known, and `src` has errors of its own.",
]


@pytest.mark.parametrize("words", ACCEPTED)
def test_a_correct_paraphrase_is_accepted(words: str) -> None:
    assert objections(log(), OPEN + words) == []


def again() -> Ledger:
    """A command that failed first and went well at the end, and one the other way round."""
    return ledger(
        said(
            asked("Make it work"),
            *ran("make test", 2),
            *ran("make docs", 0),
            *ran("make test", 0),
            *ran("make docs", 1),
            done(),
        )
    )


@pytest.mark.parametrize(
    "words",
    [
        "`make test` failed at first.",
        "`make test` passes now.",
        "`make test` failed with exit code 2, then passed.",
        "`make docs` now fails.",
        "`make docs` passed at the beginning.",
        "All tests pass.",
    ],
)
def test_a_command_with_two_outcomes_may_be_told_either_way(words: str) -> None:
    assert objections(again(), words) == []


@pytest.mark.parametrize(
    "words",
    ["`make test` still fails.", "`make docs` passes now.", "`make docs` exited with code 7."],
)
def test_but_what_stands_now_is_how_it_ended_last(words: str) -> None:
    assert [one.rule for one in objections(again(), words)] == ["status"]


DROPPED = [
    "The cart was fixed in `src/shop/cart.py`.",
    "Nothing else happened.",
    "Everything is finished, the user is satisfied with the cart.",
]


@pytest.mark.parametrize("words", DROPPED)
def test_an_open_request_must_not_be_dropped(words: str) -> None:
    assert "dropped-request" in {one.rule for one in objections(log(), words)}


KEPT = [
    "Now let the checkout page show the reduced price",
    "The checkout page is to show reduced prices.",
    "The user also asked for the price on the checkout; that is unfinished.",
    "Pending: display of discounts at checkout.",
    "Still open: show the reduced price when checking out.",
]


@pytest.mark.parametrize("words", KEPT)
def test_an_open_request_may_be_told_in_other_words(words: str) -> None:
    assert objections(log(), words) == []


def test_a_request_that_stays_visible_need_not_be_in_the_summary() -> None:
    assert objections(log(), "The cart was fixed.", visible=(Span(13),)) == []


def test_what_the_covered_text_says_is_no_invention() -> None:
    words = OPEN + "`docs/plan.md` says so, and `render_page` too."
    assert len(objections(log(), words)) == 2
    assert objections(log(), words, covered="see docs/plan.md and render_page(x)") == []


def test_a_request_in_another_script_is_kept_by_a_sentence_about_what_is_asked() -> None:
    known = ledger(said(asked("请把结账页面改成显示折扣后的价格")))
    assert objections(known, "The user asked for discounted prices at checkout.") == []
    assert objections(known, "请求：结账页面要显示折扣价格。") == []
    assert objections(known, "Some files were read.") != []


@pytest.mark.parametrize("path", ["...hop/cart_of_one.py", "docs/结账.md", "shop/till.py"])
def test_a_path_is_known_as_the_log_prints_it(path: str) -> None:
    covered = "see ...hop/cart_of_one.py for it\n请看docs/结账.md和shop/till.py文件"
    assert objections(log(), f"{OPEN}See {path} for it.", covered) == []
