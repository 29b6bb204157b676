"""What follows a planted secret, as findings: one for each channel and changed file.

The bytes were not recognised (that would be `canary-leaves`); they changed when the secrets did, and only
then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.varied import Dependence, Doubt, How, Place
from gate.rules_api import RuleKind

_rule: Final = RuleKind[object, object](FindingStage.BEHAVIOUR)
DEPENDENT: Final = _rule.meta(
    "secret-dependent-output",
    "Output depends on a planted secret",
    severity="critical",
    confidence="high",
    topic="credential",
    cwe=(200, 506),
    attack=("T1041", "T1027", "T1048"),
    why="With the same secrets it was the same every time, with others it was another: the secret, or "
    "something computed from it, is in what goes out. Encryption and home-made encodings do not hide that.",
    fix="Find what reads the secret on the way to this channel. Send it to its own service alone, in the "
    "header that this service takes, or not at all.",
)
_PAGE: Final = """\
Probes that give something away are run again in a world where chance and clocks are pinned: twice with the
same planted secrets, then with others, which differ in most bits and in length (docs/varied-secrets.md). What
differs between runs with the same secrets is noise. What differs only when the secrets do depends on them:
request, name that is looked up, child's argument, file, printed text, number, order or length. Base is run
alike; what follows the secret there in the same place is not told.

Critical is what leaves the machine for anybody but the secret's own service in the form which that service
takes. Where the bytes vary by themselves and only their size or number follows the secret, confidence is
medium. The two digests in the evidence tell both values apart without showing them.
"""
DOUBTED: Final = _rule.meta(
    "secret-undecided-output",
    "A secret was read, and what is sent varies by itself",
    severity="medium",
    confidence="low",
    topic="credential",
    cwe=(200, 506),
    attack=("T1041", "T1027"),
    why="The run asked for a planted secret and sends bytes that are others each time, with chance and "
    "clocks pinned. Whether the secret is in them cannot be told from outside: under a nonce all look alike.",
    fix="Say what these bytes are made of. Take chance from the language (os.urandom, secrets, uuid, "
    "crypto), which the look can pin, and keep the secret out of that field.",
)
_DOUBT_PAGE: Final = """\
Probes are run again in a world where the language's chance and clocks are pinned (docs/varied-secrets.md). A
field of what leaves the machine that still differs between runs with the same secrets takes its chance from
elsewhere: `/dev/urandom` read as a file, native code, a shell. There, nothing decides whether it holds a
secret.

Told only where the same run is known to have asked for a planted secret (a variable, a decoy file), and the
field or the asking is new: the verdict is then at least warn. Identifiers of requests that are made by the
language's own chance are pinned and never told, nor is a field that base has in a run that asked the same.

It does not tell a secret that is printed or written to a file under a nonce: that stays on the machine, as a
note among what was not exercised.
"""
RULES: Final = ((DEPENDENT, _PAGE), (DOUBTED, _DOUBT_PAGE))
_WEIGHT: Final[dict[Place, Severity]] = {
    "away": Severity.CRITICAL,
    "tree": Severity.HIGH,
    "log": Severity.HIGH,
    "command": Severity.HIGH,
    "machine": Severity.MEDIUM,
    "time": Severity.MEDIUM,
}
_SAID: Final[dict[Place, str]] = {
    "away": "What is sent away depends on a planted secret.",
    "tree": "What is written into the tree depends on a planted secret.",
    "log": "What is printed depends on a planted secret.",
    "command": "The arguments of a program depend on a planted secret.",
    "machine": "What is written to a file depends on a planted secret.",
    "time": "How long is slept depends on a planted secret.",
}
_HOW: Final[dict[How, str]] = {
    "content": "its bytes",
    "size": "its size (the bytes vary by themselves)",
    "count": "how many pieces there are",
    "order": "the order of the pieces",
    "presence": "whether there is any",
}
_SURE: Final[tuple[How, ...]] = ("content", "presence", "size", "count", "order")
"""The surest first."""
_SHOWN: Final = 4


def varied_findings(found: Iterable[Dependence]) -> tuple[Finding, ...]:
    """One finding for each kind of channel, whom it leads to, and changed file; the surest names it."""
    groups: dict[tuple[str, str], list[Dependence]] = {}
    for one in sorted(found, key=lambda one: (_SURE.index(one.how), one.channel)):
        groups.setdefault((one.path, _shape(one)), []).append(one)
    return tuple(_finding(group) for group in groups.values())


def _shape(one: Dependence) -> str:
    """What stays the same with the next secrets: a name that is only there with some of them does not."""
    return one.channel.kind if one.how == "presence" else f"{one.channel.kind} {one.channel.to}".strip()


def _finding(group: Sequence[Dependence]) -> Finding:
    one, place = group[0], group[0].channel.place
    sure = one.how in ("content", "presence") and place not in ("machine", "time")
    others = [other.channel.shown[:100] for other in group[1:]]
    more = [f"and {len(others) - _SHOWN} more"] if others[_SHOWN:] else []
    evidence = {
        "channel": one.channel.shown[:300],
        "what follows the secret": _HOW[one.how],
        "with the first secrets": f"{one.sizes[0]} bytes, sha256 {one.first}",
        "with other secrets": f"{one.sizes[1]} bytes, sha256 {one.other}",
        "likewise": "; ".join(others[:_SHOWN] + more),
        "probe": one.target[:200],
    }
    return Finding.of(
        DEPENDENT,
        _SAID[place],
        Location(path=one.path),
        shape=_shape(one),
        severity=_WEIGHT[place],
        confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
        evidence={name: text for name, text in evidence.items() if text},
    )


def doubt_findings(found: Iterable[Doubt]) -> tuple[Finding, ...]:
    """One finding for each changed file and whom the bytes go to."""
    groups: dict[tuple[str, str], list[Doubt]] = {}
    for one in sorted(found, key=lambda one: one.channel):
        groups.setdefault((one.path, f"{one.channel.kind} {one.channel.to}".strip()), []).append(one)
    return tuple(_doubted(shape, group) for (_, shape), group in groups.items())


def _doubted(shape: str, group: Sequence[Doubt]) -> Finding:
    channels = list(dict.fromkeys(one.channel.shown[:300] for one in group))
    secrets = sorted({name for one in group for name in one.secrets})
    evidence = {
        "channel": "; ".join(channels[:_SHOWN]),
        "asked for": ", ".join(secrets[:_SHOWN]),
        "probe": group[0].target[:200],
    }
    return Finding.of(
        DOUBTED,
        "A planted secret was asked for, and what is sent away differs each time by itself.",
        Location(path=group[0].path),
        shape=shape,
        evidence={name: text for name, text in evidence.items() if text},
    )
