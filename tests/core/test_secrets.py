"""Secrets: masked by their shape, redacted by their value."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import secrets as looking
from holdfast.core.secrets import mask, redact, redacted
from holdfast.model import wire
from holdfast.model.log import Context, Pin, Summary
from holdfast.model.message import Message, Opaque, Reasoning, Seal, Text, ToolCall, assistant, user
from holdfast.model.span import Span
from holdfast.testing.factories import every_part
from holdfast.testing.strategies import texts

# Made up, and put together here so that nothing in this file looks like a key.
LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
KEYS = {
    "openai": "sk-" + LETTERS,
    "openai project": "sk-proj-" + LETTERS + "_" + LETTERS,
    "anthropic": "sk-ant-api03-" + LETTERS + "-" + LETTERS,
    "github": "ghp_" + LETTERS * 2,
    "github oauth": "gho_" + LETTERS * 2,
    "github fine": "github_pat_" + LETTERS + "_" + LETTERS,
    "gitlab": "glpat-" + LETTERS,
    "aws": "AKIA" + "Z7Y6X5W4V3U2T1S0",
    "google": "AIza" + LETTERS + "-_" + LETTERS,
    "slack": "xoxb-" + "12345678901-" + LETTERS,
    "slack user": "xoxp-" + "12345678901-" + LETTERS,
    "jwt": "eyJ" + LETTERS + ".eyJ" + LETTERS + "." + LETTERS,
    "pem": "-----BEGIN RSA PRIVATE KEY-----\n" + LETTERS + "+/=\n-----END RSA PRIVATE KEY-----",
    "pem with head": "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,X\n\n" + LETTERS
    + "\n-----END PRIVATE KEY-----",
}  # fmt: skip


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "around", [("", ""), ("the key ", " is mine"), ('{"k":"', '"}'), ("=", "\n")]
)
def test_what_looks_like_a_key_is_masked(key: str, around: tuple[str, str]) -> None:
    assert mask(around[0] + key + around[1]) == around[0] + "[secret]" + around[1]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdEFGH12345678", "Authorization: Bearer [secret]"),
        ("password=correct-horse-battery", "password=[secret]"),
        ("DB_PASSWORD: 'correct horse'", "DB_PASSWORD: 'correct horse'"),
        ('"client_secret": "q1w2e3r4t5"', '"client_secret": "[secret]"'),
        ('{\\"api_key\\": \\"q1w2e3r4t5\\"}', '{\\"api_key\\": \\"[secret]\\"}'),
        ("API-KEY = q1w2e3r4t5", "API-KEY = [secret]"),
        ("postgres://bob:hunter2@db/x", "postgres://bob:[secret]@db/x"),
        ("-----BEGIN PRIVATE KEY-----\nabc", "[secret]"),
        ("a " + KEYS["aws"] + " b " + KEYS["jwt"], "a [secret] b [secret]"),
    ],
)
def test_only_the_secret_goes(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "a risk-based-approach-1234567890 to task-0123456789abcdefgh",
        "sk-learn-like-names-of-many-things",
        "password: str, token: int",
        "password=short",
        "token = os.environ['TOKEN']",
        "key = compute_something(1)",
        "bearer of bad news",
        "MAKIAVELLI0123456789 and xAKIAZ7Y6X5W4V3U2T1S0",
        "https://example.org:8080/path and git@host:path",
        "max_tokens=100000000 tokens: 123456789",
        "-----BEGIN CERTIFICATE-----",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text


NAMED = (
    "password", "passwd", "API_KEY", "api-key", "private_key", "key", "tokens", "credentials", "=",
    ": ", "abcdefgh1", "'", " ", "_", "\n", "İ", "[secret]", "(", "x",
)  # fmt: skip


@given(st.lists(st.sampled_from(NAMED), max_size=12).map("".join))
def test_looking_less_finds_what_looking_everywhere_finds(text: str) -> None:
    everywhere = list(range(len(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "_given", lambda folded: everywhere)
        whole = mask(text)
    assert mask(text) == whole


@given(texts(max_size=60))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@given(texts(), st.sampled_from(sorted(KEYS.values())), texts())
def test_no_key_survives_between_spaces(before: str, key: str, after: str) -> None:
    assert key not in mask(f"{before} {key} {after}")


HARD = [
    *("sk-", "sk-a", "eyJ", "eyJaaaaaaaa.", "ghp_a", "xoxb-", "AKIA", "-----BEGIN "),
    *("-----BEGIN PRIVATE KEY-----", "bearer ", "password=", "token", "key: ", "://a:", "://"),
    *("a", " ", "-", "=", "token=", "token:", "secret=a1b2c3d4(", "api_key=(", "bearer a1"),
    *("token=İ", "a.", "a::", "A", "aB", "a1", "password:", "://{a}:{b}@"),
]


@pytest.mark.parametrize("piece", HARD)
def test_a_long_text_made_to_be_slow_is_masked_to_its_end(piece: str) -> None:
    text = piece * (400_000 // len(piece))  # a quadratic pattern would take minutes
    start = time.process_time()
    assert mask(text)
    assert time.process_time() - start < 20
    mask(f"{text}(")


SECRET = "top/secret+value=="
OTHER = "top/secret+value==and-more"


def test_configured_values_are_replaced_wherever_they_turn_up() -> None:
    assert redact(f"a {SECRET} b{SECRET}", [SECRET]) == "a [redacted] b[redacted]"
    assert redact(f"a {SECRET}", [SECRET], mark="*") == "a *"
    assert redact("nothing here", [SECRET]) == "nothing here"


def test_the_longer_of_two_values_goes_whole() -> None:
    for secrets in ([SECRET, OTHER], [OTHER, SECRET]):
        assert redact(f"{OTHER} {SECRET}", secrets) == "[redacted] [redacted]"


def test_values_are_found_as_json_writes_them() -> None:
    odd = 'quote"back\\slash/é'
    for written in (wire.encode(odd).decode(), '"quote\\"back\\\\slash\\/\\u00e9"'):
        assert redact(written, [odd]) == '"[redacted]"'


def test_a_mark_is_not_searched_for_values_again() -> None:
    assert redact("redacted-key redacted", ["redacted-key", "redacted"]) == "[redacted] [redacted]"


@pytest.mark.parametrize("short", ["", "none", "ollama", "EMPTY"])
def test_placeholders_are_no_secrets(short: str) -> None:
    assert redact("none of ollama is EMPTY", [short]) == "none of ollama is EMPTY"
    body = user("none of ollama is EMPTY")
    assert redacted(body, [short]) is body


def test_every_field_of_a_body_is_scrubbed() -> None:
    for body in (
        Message("user", every_part(f"x {SECRET} y")),
        Message("user", every_part(f"\ud800 {SECRET} y")),
        Context(sections={f"x {SECRET}": f"{SECRET} y"}),
        Summary(covers=(Span(1, 2),), text=SECRET, ledger=SECRET, reason=SECRET),
        Pin(fact=SECRET, path=f"/tmp/{SECRET}"),
    ):
        clean = redacted(body, [SECRET])
        assert SECRET not in repr(clean)
        assert "[redacted]" in repr(clean)
        assert type(clean) is type(body)


def test_a_body_without_secrets_is_the_same_object() -> None:
    for body in (Message("user", every_part("x")), Pin(fact="x"), user("\ud800")):
        assert redacted(body, [SECRET]) is body
        assert redacted(body, []) is body


def test_parts_without_secrets_are_the_same_objects() -> None:
    body = assistant("clean", ToolCall("c", "bash", f'{{"command": "echo {SECRET}"}}'))
    clean = redacted(body, [SECRET])
    assert isinstance(clean, Message)
    assert clean.parts[0] is body.parts[0]
    assert clean.parts[1] == ToolCall("c", "bash", '{"command": "echo [redacted]"}')


@pytest.mark.parametrize("hash", ["", "given"])
def test_sealed_bytes_that_had_to_be_changed_are_never_echoed(hash: str) -> None:
    data = f'{{"signature": "{SECRET}"}}'.encode()
    for part in (Reasoning("x", Seal("p", data, hash=hash)), Opaque("p", "t", data, hash=hash)):
        clean = redacted(assistant(part), [SECRET])
        assert isinstance(clean, Message)
        kept = clean.parts[0]
        sealed = kept.seal if isinstance(kept, Reasoning) else kept
        assert isinstance(sealed, (Seal, Opaque))
        assert SECRET.encode() not in sealed.data
        assert not sealed.intact


@given(texts(), texts(), st.lists(st.sampled_from([SECRET, OTHER]), max_size=3))
def test_no_value_survives(before: str, after: str, secrets: list[str]) -> None:
    text = before + "".join(secrets) + after
    clean = redacted(user(text), [SECRET, OTHER])
    assert isinstance(clean, Message)
    assert SECRET not in clean.text
    assert clean == user(text) or secrets
    assert redacted(clean, [SECRET, OTHER]) is clean


def test_a_text_part_keeps_its_other_fields() -> None:
    body = Message("user", (Text(SECRET, scaffold="s"),))
    assert redacted(body, [SECRET]) == Message("user", (Text("[redacted]", scaffold="s"),))


def test_a_part_that_had_to_be_changed_loses_its_seal() -> None:
    thought = Reasoning(f"key {SECRET}", Seal("anthropic", b'{"signature": "x"}'))
    (changed,) = redacted(assistant(thought), [SECRET]).parts  # type: ignore[union-attr]
    assert changed == Reasoning("key [redacted]")
    whole = assistant(Reasoning("no key", thought.seal))
    assert redacted(whole, [SECRET]) is whole
