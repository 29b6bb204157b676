"""What makes values safe, and what comes in its place; tables of keys that everybody knows."""

from __future__ import annotations

import ast

import pytest

from gate.protections.facts import Guard, Weakness
from gate.protections.makers import maker_facts
from gate.protections.python.keyrings import keyring_facts


def _told(*words: str) -> list[str]:
    found = maker_facts(dict.fromkeys(words, 1))
    return [f"safe {f.must[0].partition(': ')[2]}" if isinstance(f, Guard) else f.key for f in found]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("import crypto/rand",), ["safe random values"]),
        (("import math/rand",), ["random values by math/rand"]),
        (("import crypto/rand", "import math/rand"), []),
        (("AESGCM",), ["safe ciphertexts"]),
        (("modes.CBC",), ["ciphertexts by modes.CBC"]),
        (("modes.CBC", "createHmac"), []),
        (("AES/CBC/PKCS5Padding",), ["ciphertexts by AES/CBC/PKCS5Padding"]),
        (("aes-128-gcm",), ["safe ciphertexts"]),
        (("CTR", "CBC", "random"), []),
        (("import expvar",), ["expvar answers everybody"]),
        (("import fmt",), []),
    ],
)
def test_makers_are_known_by_their_names(words: tuple[str, ...], told: list[str]) -> None:
    assert _told(*words) == told


@pytest.mark.parametrize(
    "text",
    [
        "KEYS = {'a': os.environ.get('APP_KEY', '').encode()}",
        "KEYS |= {n: os.getenv(f'KEY_{n}', '') for n in NAMES}",
        "SECRET_KEY_FALLBACKS = ['before']",
        "SECRET_KEY_FALLBACKS = [os.environ.get('SECRET_KEY_OLD', 'before')]",
        "SECRET_KEY_FALLBACKS.append('before')",
        "SIGNING_KEYS['b'] = b'known'",
        "HMAC_KEYS: dict = {'a': os.environ.get('HMAC_KEY') or 'known'}",
        "KEYRING = [os.environ['A_KEY'], 'known']",
    ],
)
def test_a_key_that_everybody_knows(text: str) -> None:
    found = [*keyring_facts(ast.parse(text).body[0])]
    assert [isinstance(one, Weakness) and one.modest for one in found] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "KEYS = {'a': os.environ['APP_KEY'].encode()}",
        "KEYS = {'a': os.environ.get('APP_KEY', '').encode() or os.urandom(32)}",
        "KEYS = ['name', 'title']",
        "SESSION_KEYS = ['cart']",
        "SORT_KEYS = {'a': os.environ.get('ORDER', 'name')}",
        "SECRET_KEY_FALLBACKS = [os.environ['SECRET_KEY_OLD']]",
        "SECRET_KEY_FALLBACKS = []",
        "SIGNING_KEYS = {'a': '-----BEGIN PUBLIC KEY-----'}",
        "keys = load()",
        "name = 'text'",
    ],
)
def test_a_key_that_nobody_knows(text: str) -> None:
    assert [*keyring_facts(ast.parse(text).body[0])] == []
