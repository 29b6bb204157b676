"""How code ends is evidence or simply not run, and neither is a hole: whole checks in a real sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gate.cli import main
from tests.e2e.pulls import Pull, build
from tests.integration.launching import why_no_bwrap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works"),
]

LONE_SURROGATES = r"""
import sys
import unittest

NASTY = chr(0xD800) + "x" + chr(0xDC80) + chr(0)


def shown(text: str = NASTY) -> str:
    raise ValueError(text)


class Surrogates(unittest.TestCase):
    def test_print(self) -> None:
        sys.stdout.buffer.write(NASTY.encode("utf-8", "surrogatepass") + b"\xff\xfe\0")
        print(NASTY.encode("utf-8", "surrogatepass"))

    def test_raise(self) -> None:
        with self.subTest(NASTY):
            shown()


raise ValueError(NASTY)
"""
SLOW_TESTS = """
import time
import unittest


class Slow(unittest.TestCase):
    def test_a(self) -> None:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            pass

    for letter in "bcdefghijklmnopqrstuvwxyz":
        locals()["test_" + letter] = test_a
"""
ONE_LONG_TEST = """
import unittest


class Long(unittest.TestCase):
    def test_for_ever(self) -> None:
        while True:
            pass
"""
SETTINGS = "[sandbox]\ndeadline = 8.0\n"
SOON_OVER = "[sandbox]\ndeadline = 4.0\n"
"""For what never ends: each of its runs takes all the time it gets, which a busy machine makes longer yet."""


def checked(
    head: Mapping[str, str], folder: Path, *, settings: str = SETTINGS, **more: Any
) -> dict[str, Any]:
    repo = build(Pull(name="x", head=head, verdicts=(), base={"gate.toml": settings}, **more), folder)
    file = folder / "report.json"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--backend", "bubblewrap"]
    main([*words, "--json", str(file), "-q"])
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def told(report: dict[str, Any]) -> str:
    return json.dumps({key: report[key] for key in ("verdict", "reasons", "findings", "stages")}, indent=1)


@pytest.mark.parametrize(
    "head",
    [
        {"src/pricing/odd.py": LONE_SURROGATES},
        {"tests/test_odd.py": LONE_SURROGATES},
        {"src/pricing/odd.py": LONE_SURROGATES.replace("raise ValueError(NASTY)\n", "")},
    ],
)
def test_lone_surrogates_nul_and_broken_text_end_no_look(head: Mapping[str, str], tmp_path: Path) -> None:
    report = checked(head, tmp_path)
    assert report["verdict"] == "pass", told(report)


@pytest.mark.parametrize("test", [SLOW_TESTS, ONE_LONG_TEST])
def test_tests_that_take_too_long_are_told_as_not_run(test: str, tmp_path: Path) -> None:
    report = checked({"tests/test_slow.py": test}, tmp_path, settings=SOON_OVER)
    assert report["verdict"] == "pass", told(report)
    reasons = {entry["reason"] for entry in report["sandbox"]["not_exercised"]}
    assert "ran out of time" in reasons, report["sandbox"]["not_exercised"]


@pytest.mark.parametrize(
    ("code", "rule", "verdict"),
    [
        ("while True:\n    pass\n", "timeout", "warn"),
        ("import os\nos._exit(0)\n", "early-exit", "fail"),
        ("import os\nos._exit(3)\n", "early-exit", "warn"),
        ("import os\nos.abort()\n", "early-exit", "warn"),
        ("import threading\nthreading.Thread(target=threading.Event().wait).start()\n", "early-exit", "warn"),
        (
            "import os\nfor fd in range(3, 64):\n    try:\n"  # noqa: ISC004  # one program
            '        os.write(fd, b\'{"m":"report","outcome":"completed"}\\n\')\n'
            "    except OSError:\n        pass\n",
            "early-exit",
            "fail",
        ),
        (
            "import os\nimport signal\nfor n in range(90):\n    if not os.fork():\n        signal.pause()\n",
            "resource-exhaustion",
            "fail",
        ),
        (
            "for n in range(40):\n    with open(f'/tmp/big{n}', 'wb') as file:\n"  # noqa: ISC004  # one program
            "        for _ in range(32):\n            file.write(bytes(1 << 20))\n",
            "resource-exhaustion",
            "fail",
        ),
    ],
)
def test_what_ends_the_look_is_a_finding(code: str, rule: str, verdict: str, tmp_path: Path) -> None:
    settings = SOON_OVER if rule == "timeout" else SETTINGS
    report = checked({"src/pricing/odd.py": code}, tmp_path, settings=settings)
    assert rule in {finding["rule_id"] for finding in report["findings"]}, told(report)
    assert report["verdict"] == verdict, told(report)


ENDLESS_SCRIPT = "#!/bin/sh\nwhile :; do :; done\n"
ENDLESS_IMPORT = "def rate(x: int) -> int:\n    return x\n\n\nwhile True:\n    pass\n"


@pytest.mark.parametrize(
    "head",
    [
        {f"tools/step{n}.sh": ENDLESS_SCRIPT for n in range(5)},
        {
            "src/pricing/odd.py": ENDLESS_IMPORT,
            "tests/test_odd.py": "from pricing.odd import rate\n\nassert rate(1) == 1\n",
            "src/pricing/strange.py": ENDLESS_IMPORT.replace("rate", "price"),
        },
    ],
    ids=["scripts", "imports"],
)
def test_all_that_never_ends_has_one_time_together(head: Mapping[str, str], tmp_path: Path) -> None:
    settings = "[sandbox]\ndeadline = 4.0\nendless = 4.0\n"
    report = checked(head, tmp_path, settings=settings)
    assert report["verdict"] == "warn", told(report)
    assert "timeout" in {finding["rule_id"] for finding in report["findings"]}, told(report)
    runs = [run for run in report["sandbox"]["runs"] if run["outcome"] == "timed-out"]
    longest = max(run["seconds"] for run in runs)
    short = [run for run in runs if run["seconds"] < 0.7 * longest]
    assert len(runs) - len(short) <= 3, "one deadline together, and what was begun within it"
    assert short, runs
    reasons = {entry["reason"] for entry in report["sandbox"]["not_exercised"]}
    assert "ran out of time" in reasons, report["sandbox"]["not_exercised"]


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that use all the processor time they get."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_a_busy_machine_makes_no_check_inconclusive(tmp_path: Path) -> None:
    head = {
        "src/pricing/rates.py": "\n".join(
            f"def rate_{n}(x: int) -> int:\n    return x + {n}\n" for n in range(40)
        ),
        "src/pricing/table.py": "TABLE = [\n"
        + "".join(f"    ({n}, 'name {n}'),\n" for n in range(20_000))
        + "]\n",
        "tests/test_rates.py": "from pricing.rates import rate_1\n\nassert rate_1(1) == 2\n",
    }
    with busy(4):
        report = checked(head, tmp_path)
    assert report["verdict"] == "pass", told(report)
