"""What the server's threads read is known to msgspec before there are threads: it crashes otherwise."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import REPOSITORY

TOGETHER = """
import sys, threading
from pathlib import Path
from gate.change.event import parse_event
from gate.policy.override import parse_file
from gate.policy.policy_file import parse_policy
from gate.report.from_json import as_report
from gate.report.json_v1 import decode
from gate.resources import rules_dir
from gate.serve.checks import Checks
from gate.serve.payload import payload
from gate.serve.webhooks import Answers
from gate.settings import load

sys.setswitchinterval(1e-6)
report, policy = Path(sys.argv[1]).read_bytes(), (rules_dir() / "policy.toml").read_bytes()
sides = b'"head":{"sha":"%s","ref":"x"},"base":{"sha":"%s","ref":"main"}' % (b"1" * 40, b"2" * 40)
event = b'{"pull_request":{"number":7,%s}}' % sides
jobs = [
    lambda: parse_event(event),
    lambda: as_report(decode(report)),
    lambda: parse_file(b""),
    lambda: parse_policy(policy),
    lambda: load(base=None, environ={}),
]
barrier = threading.Barrier(3 * len(jobs))

def run(job):
    barrier.wait()
    job()

threads = [threading.Thread(target=run, args=(jobs[n % len(jobs)],)) for n in range(3 * len(jobs))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("whole")
"""


@pytest.mark.parametrize("again", range(3))
def test_a_backlog_at_the_start_does_not_crash_the_server(again: int) -> None:
    """Each of these ended in a segmentation fault where several threads met a type first at once."""
    file = REPOSITORY / "tests/golden/outputs/hostile.json"
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER, file], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "whole"), done.stderr[-2_000:]
