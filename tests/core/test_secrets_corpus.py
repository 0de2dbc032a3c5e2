"""What is masked in the search index: a corpus of ordinary names, and one of made-up secrets."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.secrets import MASK, mask

ORDINARY = [
    "detect_private_key::tests::test_clean_file",
    "test rule::private_key::test_finds_key ... ok",
    "api_key=args.api_key",
    "api_key=self.config.api_key",
    "client(base_url=self.config.base_url, api_key=settings.OPENAI_API_KEY)",
    "const previousToken = process.env.ENTIRE_CHECKPOINT_TOKEN",
    "process.env.ENTIRE_CHECKPOINT_TOKEN = previousToken",
    'process.env.ENTIRE_CHECKPOINT_TOKEN = "secret-token"',
    "ANTHROPIC_API_KEY = undefined",
    "export ANTHROPIC_API_KEY=sk-ant-...",
    "DISCORD_BOT_TOKEN=your_bot_token",
    "API_KEY=your_api_key",
    "bot.run(token=discord_config.discord_bot_token)",
    "- Token: gho_************************************",
    "    password: SecretStr",
    "password: SecretString | None = None",
    "password=password_from_environment",
    "password: req.body.password",
    "password = os.environ['DB_PASSWORD']",
    "password = getpass.getpass()",
    "password = hash_password(plain)",
    "if token == expected_token:",
    "token: tokenize.TokenInfo",
    "token = tokenizer.next_token()",
    "token := lexer.NextToken",
    "token => this.handleToken",
    "let token = request.headers.authorization",
    "$token = $request->bearerToken",
    "self.token = self.session.access_token",
    "token: crate::lexer::TokenKind",
    "Token::Identifier => parse_identifier",
    "api_key: ApiKeyCredential",
    "private_key: rsa::RsaPrivateKey",
    "private_key: PathBuf",
    "private_key = crypto.generate_private_key(65537)",
    "private_key: /etc/ssl/private/server.pem",
    "access_key: AccessKeyResolver",
    "secret: kubernetes_secret_name",
    "secret: SecretManagerServiceClient",
    "secret = self.vault.read_secret",
    "SECRET_TOKEN: ClassVar",
    "credentials: google.auth.credentials",
    "credentials=service_account_credentials",
    "credentials: ServiceAccountCredentials",
    "max_token: 100000000",
    "token: 1234567890",
    "token=%(token_name)s",
    "Authorization: Bearer authentication-required",
    "the bearer of-this-authorization-letter",
    "bearer <your_access_token>",
    "Bearer ${process.env.ACCESS_TOKEN}",
    'f"postgres://{user}:{password}@{host}/{name}"',
    "postgres://$USER:$PASSWORD@db/app",
    "postgres://%s:%s@%s/%s",
    "mysql://<user>:<password>@<host>",
    "<div class='sk-container-id-1-text-repr-fallback'>",
    "sk-learn-like-names-of-1-thing",
    "tests/auth/test_access_token.py::test_token_expires",
    "PASSWORD=DEFAULT_PASSWORD",
    "test_password: test_password_is_hashed",
    "def test_secret(): ...",
    "secret:\n  name: database",
    "token: https://example.org/docs/tokens",
    "KEY_PRIVATE_KEY = 'KEY_PRIVATE_KEY'",
    "api-key: x-api-key-header-name",
    "STOP_TOKEN = EndOfSequence",
    "pad_token=tokenizer.eos_token",
    "api_key: 'REDACTED'",
    "apiKey: config.apiKeys.default",
    "encryption_key: KmsKeyReference",
]  # fmt: skip

# Made up, and put together here, so that nothing in this file looks like a key.
_RANDOM = random.Random(7)


def made(size: int, signs: str = string.ascii_letters + string.digits) -> str:
    """Random signs, as a program that makes keys would choose them."""
    return "".join(_RANDOM.choices(signs, k=size))


HEX, BASE36, BASE32 = (
    string.hexdigits.lower()[:16],
    string.ascii_lowercase + string.digits,
    "AB2CD3EF4GH5IJ6KL7MNOPQRSTUVWXYZ",
)
BASE64 = string.ascii_letters + string.digits + "+/"

SECRETS = [
    ("export OPENAI_API_KEY=", "sk-" + made(48)),
    ("", "sk-proj-" + made(60)),
    ("key ", "sk-ant-api03-" + made(90)),
    ("", "sk-or-v1-" + made(64, HEX)),
    ("", "ghp_" + made(36)),
    ("token gho_ ", "gho_" + made(36)),
    ("", "ghs_" + made(36)),
    ("", "github_pat_" + made(60)),
    ("", "glpat-" + made(20)),
    ("", "AKIA" + made(16, BASE32)),
    ("", "ASIA" + made(16, BASE32)),
    ("", "AIza" + made(35)),
    ("", "xoxb-" + made(40)),
    ("", "xoxp-" + made(40)),
    ("", f"eyJ{made(30)}.eyJ{made(60)}.{made(43)}"),
    ("Authorization: Bearer ", made(40)),
    ("authorization: bearer ", made(64, HEX)),
    ("curl -H 'Authorization: Bearer ", made(32, BASE36)),
    ("Bearer ", made(80, BASE64)),
    ("postgres://app:", made(16)),
    ("redis://:@x amqp://guest:", "hunter2hunter2"),
    ("https://bob:", "correcthorse"),
    ("mongodb+srv://root:", "S3cr3tPass"),
    ("password=", "correct-horse-battery"),
    ("password: ", "hunter2hunter2"),
    ("PASSWORD=", "correcthorse"),
    ('"password": "', "correcthorse"),
    ("passwd: ", "Tr0ub4dor-3"),
    ("DB_PASSWORD='", "a-b-c-d-e-f"),
    ("--password=", "correcthorse"),
    ("?password=", "opensesame"),
    ("PGPASSWORD=", "trustno1trustno1"),
    ("pwd=", "qwertz123456"),
    ("passphrase: '", "abandon.ability"),
    ("POSTGRES_PASSWORD: ", "p0stgr3s-app"),
    ('password := "', "correcthorse"),
    ("'password' => '", "correcthorse"),
    ("password == '", "correcthorse"),
    ("JWT_SECRET=", "changemechangeme"),
    ("client_secret: ", made(32)),
    ('"client_secret": "', made(24, BASE36)),
    ("secret = '", made(64, HEX)),
    ("SECRET_KEY = '", made(50)),
    ('secretKey: "', made(40, BASE64)),
    ("api_key = '", made(32, HEX)),
    ('apiKey: "', made(39)),
    ("API-KEY: ", made(20)),
    ("api_key=", "q1w2e3r4t5"),
    ("X-Api-Key: ", made(32)),
    ("aws_secret_access_key = ", made(40, BASE64)),
    ("aws_access_key=", made(20, BASE36)),
    ('private_key: "', made(64, HEX)),
    ("token=", made(40)),
    ("token: ", made(16, HEX)),
    ("TOKEN=", made(24, BASE36)),
    ("npm_token=", "npm_" + made(36)),
    ("//registry.npmjs.org/:_authToken=", made(36)),
    ("HF_TOKEN=", "hf_" + made(34)),
    ("refresh_token: '", made(43)),
    ("access_token=", "ya29." + made(60)),
    ("DISCORD_TOKEN=", f"{made(24)}.{made(6)}.{made(27)}"),
    ("TELEGRAM_TOKEN=", f"{made(10, string.digits)}:{made(35)}"),
    ("totp_secret=", "JBSWY3DPEHPK3PXP"),
    ("credential: ", made(30)),
    ("credentials='", made(44, BASE64)),
    ("signing_key=", made(64, HEX)),
    ("ENCRYPTION_KEY: ", made(44, BASE64)),
    ("auth_key='", made(32)),
    ("token: ", "123e4567-e89b-12d3-a456-426614174000"),
    ('{\\"api_key\\": \\"', made(32)),
]


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_name_can_be_searched(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(("before", "secret"), SECRETS)
def test_a_secret_cannot_be_searched(before: str, secret: str) -> None:
    around = f"{before}{secret}{'@db/x' if '://' in before else ''}\nand so on"
    assert secret not in mask(around)
    assert MASK in mask(around)
    assert mask(around).startswith(before.partition("=")[0])


def test_a_generated_value_is_masked_whatever_its_letters() -> None:
    """Of 40 random signs, at least 999 in 1,000 are masked; of 20, at least 97 in 100."""
    for size, rate in ((40, 0.999), (20, 0.97)):
        for signs in (string.ascii_letters + string.digits, HEX, BASE36):
            values = [made(size, signs) for _ in range(2_000)]
            found = sum(value not in mask(f"token={value}\n") for value in values)
            assert found >= rate * len(values), (size, signs[-20:], found)


TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "data" / "transcripts"
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)+|[A-Za-z]+(?:_\w+|[a-z][A-Z]\w+)")


def said(value: Any) -> Iterator[str]:
    """The texts of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from said(inner)


def texts_of(file: Path) -> Iterator[str]:
    for line in file.read_text("utf-8", "replace").split("\n"):
        try:
            yield from said(json.loads(line))
        except ValueError:
            yield line


def test_names_in_real_code_can_be_searched() -> None:
    """Of the names in the public transcripts, at most one in 10,000 is hidden somewhere."""
    if not TRANSCRIPTS.is_dir():
        pytest.skip("the recorded transcripts are not here")
    known, hidden = set[str](), set[str]()
    for file in sorted(TRANSCRIPTS.rglob("*.jsonl")):
        for text in filter(lambda text: len(text) < 200_000, texts_of(file)):
            names = set(_NAME.findall(text))
            known |= names
            if (masked := mask(text)) != text:
                hidden |= names - set(_NAME.findall(masked))
    assert len(known) > 20_000
    assert len(hidden) * 10_000 <= len(known), sorted(hidden)[:20]
