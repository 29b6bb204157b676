"""Variables with secrets that a change names are planted, whatever they are called."""

from __future__ import annotations

import pytest

from gate.sandbox.canaries import plant
from gate.sandbox.named_secrets import named_secrets
from tests.unit.signals.context import changed


class Files:
    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("_", ".", 1): text.encode() for name, text in texts.items()}

    def read_many(self, paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(path, self.texts[path]) for path in paths]


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
    assert list(named_secrets([changed("a.py")], Files(a_py=text))) == names  # type: ignore[arg-type]


def test_they_are_planted_beside_the_usual_ones_and_once() -> None:
    names = ["NPM_TOKEN", "GITHUB_TOKEN", "NPM_TOKEN"]
    made = [canary for canary in plant(named=names) if canary.env in names]
    assert [(canary.env, canary.named) for canary in made] == [("GITHUB_TOKEN", False), ("NPM_TOKEN", True)]


def test_a_key_has_the_length_that_ciphers_ask_for_in_every_set() -> None:
    lengths = {len(c.secrets[0]) for n in (0, 7) for c in plant(n, ["FIELD_API_KEY"]) if c.named}
    assert lengths == {44}
