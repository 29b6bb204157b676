"""Variables with secrets that a change names are planted, whatever they are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.change import TreeEntry
from gate.sandbox.canaries import as_environment, perhaps, plant
from gate.sandbox.named_secrets import asked_in_vain, looks_secret, named_secrets
from tests.unit.signals.context import changed, run


class Files:
    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("_", ".", 1): text.encode() for name, text in texts.items()}

    def read_many(self, paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(path, self.texts[path]) for path in paths]

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=path, mode="100644", blob="b", size=len(text)) for path, text in self.texts.items()
        )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("os.environ.get('NPM_TOKEN')", ["NPM_TOKEN"]),
        ("process.env.DEPLOY_KEY ?? process.env['X_API_KEY']", ["DEPLOY_KEY", "X_API_KEY"]),
        ('curl -H "Authorization: $CI_JOB_TOKEN"', ["CI_JOB_TOKEN"]),
        ("names = ['SLACK_TOKEN']\nos.getenv(names[0])", ["SLACK_TOKEN"]),
        ("PRIMARY_KEY = 1\nos.environ['CACHE_KEY'], os.environ['TOKENS'], os.environ['MY_TOKEN_URL']", []),
        ("API_TOKEN = load()", []),
    ],
)
def test_names_of_a_text(text: str, names: list[str]) -> None:
    assert list(named_secrets([changed("a.py")], Files(a_py=text)).sure) == names  # type: ignore[arg-type]


def test_they_are_planted_beside_the_usual_ones_and_once() -> None:
    names = ["NPM_TOKEN", "GITHUB_TOKEN", "NPM_TOKEN"]
    made = [canary for canary in plant(named=names) if canary.env in names]
    assert [(canary.env, canary.named) for canary in made] == [("GITHUB_TOKEN", False), ("NPM_TOKEN", True)]


def test_a_key_has_the_length_that_ciphers_ask_for_in_every_set() -> None:
    lengths = {len(c.secrets[0]) for n in (0, 7) for c in plant(n, ["FIELD_API_KEY"]) if c.named}
    assert lengths == {44}


def tree(**texts: str) -> Files:
    made = Files()
    made.texts = {name.replace("__", "/") + ".py": text.encode() for name, text in texts.items()}
    return made


def test_credentials_are_a_user_and_a_password_each_of_which_is_looked_for() -> None:
    planted = plant(named=("DATABASE_CREDENTIALS",))[-1]
    user, password = as_environment((planted,))["DATABASE_CREDENTIALS"].split(":")
    assert user == "app"
    assert password in planted.secrets


def test_settings_that_did_not_change_are_asked_too() -> None:
    files = tree(
        shop__cart="send(settings.token)",
        shop__settings="token = os.environ.get('SHOP_API_TOKEN')\nseed = os.environ['SHOP_SEED']\n",
        tests__test_cart="os.environ['OTHER_TOKEN']",
        vendor__sdk="os.environ['VENDOR_TOKEN']",
    )
    found = named_secrets([changed("shop/cart.py")], files)  # type: ignore[arg-type]
    assert (found.sure, found.perhaps) == (("SHOP_API_TOKEN",), ("SHOP_SEED",))


def test_a_text_names_what_it_does_not_ask_for() -> None:
    """Files around the change count where the name stands beside what asks for it."""
    far = "os.environ['HOME']" + "\n" * 300 + "'SHOP_API_TOKEN'"
    files = tree(shop__cart="send()", shop__settings=far)
    assert named_secrets([changed("shop/cart.py")], files).sure == ()  # type: ignore[arg-type]


def test_names_are_whole_wherever_the_word_beside_them_stands() -> None:
    text = "os.environ['A']" + " " * 80 + "'SHOP_SIGNING_KEY_SET', 'SHOP_API_TOKEN', 'SHOP_SEEDS'"
    files = tree(shop__cart="send()", shop__settings=" " * 90 + "A_SHOP_SEED," + text)
    found = named_secrets([changed("shop/cart.py")], files)  # type: ignore[arg-type]
    assert (found.sure, found.perhaps) == ((), ("A_SHOP_SEED",))


def test_a_change_without_code_asks_nothing_around() -> None:
    files = tree(shop__settings="os.environ['SHOP_API_TOKEN']")
    files.texts["README.md"] = b"words"
    assert named_secrets([changed("README.md")], files).sure == ()  # type: ignore[arg-type]


def test_the_nearest_are_asked_first() -> None:
    names = [f"FAR_{letter}_TOKEN" for letter in "ABCDEFGHIJKLMNOPQRST"]
    far = "\n".join(f"os.environ['{name}']" for name in names)
    files = tree(other__a__far=far, shop__cart="send()", shop__near="os.environ['NEAR_TOKEN']")
    found = named_secrets([changed("shop/cart.py")], files).sure  # type: ignore[arg-type]
    assert found[0] == "NEAR_TOKEN"
    assert len(found) == 16


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("LEDGER_SEED", True),
        ("WALLET_MNEMONIC", True),
        ("ACME_DSN", True),
        ("FIELD_KEY", True),
        ("SHOP_TOKEN", True),
        ("PYTHONHASHSEED", False),
        ("RANDOM_SEED", False),
        ("RECAPTCHA_SITE_KEY", False),
        ("CACHE_KEY", False),
        ("LEDGER_REGION", False),
        ("PORT", False),
        ("LD_ENABLE_AUTH", False),
    ],
)
def test_names_that_may_be_secrets(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


def test_what_may_be_a_secret_is_planted_beside_a_set() -> None:
    first, other = perhaps(["LEDGER_SEED"]), perhaps(["LEDGER_SEED"], 7)
    assert [c.env for c in first] == [c.env for c in other] == ["LEDGER_SEED"]
    assert len(first[0].secrets[0]) != len(other[0].secrets[0])


def test_what_was_asked_for_in_vain_may_be_a_secret() -> None:
    told = {
        "items": [{"environment": {"absent": ["SHOP_SEED", "SHOP_REGION", 3, "X" * 99 + "_TOKEN"]}}, "x", {}]
    }
    head = replace(run("call"), driver_report=told)
    assert asked_in_vain([head, replace(head, side="base")]) == ("SHOP_SEED",)
    assert asked_in_vain([replace(head, side="base"), run("call")]) == ()
