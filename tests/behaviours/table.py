"""The table of single behaviours in docs/behaviours.md: ``python -m tests.behaviours.table`` writes it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from textwrap import fill
from typing import Final

from tests.behaviours.cases import LISTS, Case, cases
from tests.paths import REPOSITORY

PAGE: Final = REPOSITORY / "docs" / "behaviours.md"
BLIND: Final[dict[str, dict[str, str]]] = {
    "docker": {
        "unknown-call": "the engine's own filter refuses numbers that nobody knows, before ours is asked",
    },
    "gvisor": {
        "canary-in-datagram": "what a datagram carries is not reported",
        "canary-in-datagram-base64": "what a datagram carries is not reported",
        "dns-by-hand": "what a datagram carries is not reported; that a name server is asked is",
        "udp-sendmsg": "told without where to: the simulated network, which is not there, would tell",
        "ptrace-traceme": "told as a refused ptrace, not for which request",
        "i386-call": "its kernel has no such calls: they fail unreported",
    },
}
"""By backend: cases that it does not see, and why. Each is checked to be unseen still."""
ENDS: Final[dict[str, dict[str, str]]] = {}
"""By backend: cases that end the sandbox for all that share it; not made there."""
_HEAD: Final = """\
# What is seen: single behaviours

Made by `python -m tests.behaviours.table` from `tests/behaviours/lists`.
`tests/behaviours/test_behaviours.py` runs every one of them in a real sandbox of each kind that
works on the machine and checks the behaviour and the rule. The first column names the program in
the list, the second where the behaviour comes from: Falco's event generator, Tracee's detectors
(TRC), Atomic Red Team for Linux (T), package-analysis, RedCode, our threats. "Seen" means that the
attempt is in the trace, whether the sandbox let it through or not.

In the slowest sandbox, the microVM without KVM, they run only with `GATE_TEST_SLOW_BACKENDS=1`: on
2026-11-22 all 210 were (206 in one go in 12 minutes on two busy cores), each seen and told by its
rule.
"""


def page(all_cases: Sequence[Case]) -> str:
    """The whole page as text."""
    out = [_HEAD]
    for group, members in groupby(all_cases, key=lambda case: case.group):
        lines = (LISTS / f"{group}.txt").read_text(encoding="utf-8").splitlines()
        out.append(
            f"\n## {lines[0].removeprefix('# ')}\n\n| program | from | told as | by the rule | not seen by"
            " |\n|---|---|---|---|---|\n"
        )
        out += [
            f"| {case.id} | {case.source.strip()} | {case.kind.value} | {case.rule} | {_blind(case)} |\n"
            for case in members
        ]
    reasons = [
        (backend, name, why)
        for table in (BLIND, ENDS)
        for backend, names in table.items()
        for name, why in names.items()
    ]
    notes = [_wrapped(f"- **{backend}**, {name}: {why}") for backend, name, why in reasons]
    if notes:
        out += ["\n## Not seen\n\n", *notes]
    out.append(f"\n{len(all_cases)} behaviours.\n")
    return "".join(out)


def _wrapped(item: str) -> str:
    return fill(item, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def _blind(case: Case) -> str:
    return ", ".join(backend for backend, names in BLIND.items() if case.id in names)


if __name__ == "__main__":
    PAGE.write_text(page(cases()), encoding="utf-8")
    sys.exit(0)
