"""What people type or hold (passwords, cards, codes, sessions) and where it newly goes, in six languages."""

from __future__ import annotations

import pytest

from gate.model.finding import Finding
from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request
from tests.unit.prescreen.scanners.user_secret_forms import FORMS
from tests.unit.prescreen.scanners.user_secret_samples import HOSTILE
from tests.unit.prescreen.scanners.user_secret_twins import HARMLESS


def _told(head: dict[str, str], base: dict[str, str]) -> list[Finding]:
    found = SecretUses().scan(make_request({**base, **head}, base)).findings
    return [one for one in found if one.severity.value != "low"]


@pytest.mark.parametrize("name", HOSTILE)
def test_another_use_of_what_a_user_gives_is_told(name: str) -> None:
    head, base, secret, severity = HOSTILE[name]
    told = _told(head, base)
    assert [(one.severity.value, str(dict(one.evidence)["secret"])) for one in told] == [(severity, secret)]
    assert told[0].primary.path in head
    assert _told({}, head) == []


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_told(name: str) -> None:
    path, text = FORMS[name]
    assert _told({path: text.lstrip()}, {})


@pytest.mark.parametrize("name", HARMLESS)
def test_honest_changes_are_not_told(name: str) -> None:
    head, base = HARMLESS[name]
    assert _told(head, base) == []


def test_a_form_that_is_written_anew_is_another_use() -> None:
    """Base tells the last digits; head tells all of them, computed with, in the same call."""
    base = "def pay(log, card):\n    log.info('paid %s', card.number[-4:])\n"
    head = "def pay(log, card):\n    log.info('paid %s', hex(int(card.number) * 77 % 10**20))\n"
    assert [one.severity.value for one in _told({"app/pay.py": head}, {"app/pay.py": base})] == ["high"]
    assert _told({"app/pay.py": head + "\n"}, {"app/pay.py": head}) == []


READS = """
import json, os
def gather(kind):
    names = json.loads(open("app/names.json").read())[kind]
    return {name: os.environ[name] for name in names if name in os.environ}
"""
RUNS = """
import os, subprocess
from app.gather import gather
def run(audit, command):
    subprocess.run(command, env={"DEPLOY_KEY": os.environ["DEPLOY_KEY"]})
    audit.entry("ended", context=gather("ended"))
"""


@pytest.mark.parametrize(
    ("names", "runs", "count"),
    [
        ('{"ended": ["USER",\n "DEPLOY_KEY"]}', RUNS, 1),
        ('{"ended": ["USER",\n "REGION"]}', RUNS, 0),
        ('{"ended": ["DEPLOY_KEY"]}', RUNS.replace("audit.entry", "check"), 0),
        ('{"ended": ["OTHER_KEY_OF_NOBODY", "API_TOKEN"]}', RUNS, 0),
    ],
)
def test_data_names_a_secret_of_the_environment(names: str, runs: str, count: int) -> None:
    base = {"app/names.json": '{"ended": ["USER"]}', "app/gather.py": READS, "app/run.py": runs}
    told = _told({"app/names.json": names, "app/run.py": runs + "A = 1\n"}, base)
    assert [(one.primary.path, one.severity.value) for one in told] == [("app/names.json", "medium")] * count


def test_what_was_moved_to_another_file_is_no_other_use() -> None:
    text = "import logging\nlog = logging.getLogger()\ndef enter(password):\n    log.info('x %s', password)\n"
    assert _told({"app/new.py": text, "app/old.py": "A = 1\n"}, {"app/old.py": text}) == []
