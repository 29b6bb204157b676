"""Every behaviour rule: what it reports and how heavily, what it leaves alone, where it points."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gate.model.behaviour import Behaviour, BehaviourDiff
from gate.model.finding import fingerprinted
from gate.model.location import Location
from gate.model.rule import FindingStage
from gate.model.run import OUTAGE, Phase
from gate.policy.policy_file import load_policy
from gate.policy.score import score
from gate.signals.interface import SignalRule
from gate.signals.run import RULES, signals
from tests.unit.signals.cases import HITS
from tests.unit.signals.clean_cases import CLEAN
from tests.unit.signals.context import BY_ID, behaviour, changed, command, context, findings, run


@pytest.mark.parametrize(
    ("rule", "new", "phase", "weights"), HITS, ids=[f"{h[0]}-{h[2]}-{n}" for n, h in enumerate(HITS)]
)
def test_hit(rule: str, new: tuple[Behaviour, ...], phase: Phase, weights: str) -> None:
    found = findings(rule, *new, phase=phase)
    told = [f"{f.severity.value}/{f.confidence.value}{'!' if f.hard_block else ''}" for f in found]
    assert ",".join(told) == weights
    for finding in found:
        assert finding.rule_id == rule
        assert finding.stage is FindingStage.BEHAVIOUR
        assert finding.primary.path == "shop/cart.py"
        assert finding.topic
        assert finding.evidence["subject"]


@pytest.mark.parametrize(("rule", "new", "phase"), CLEAN, ids=[f"{c[0]}-{n}" for n, c in enumerate(CLEAN)])
def test_clean(rule: str, new: tuple[Behaviour, ...], phase: Phase) -> None:
    assert findings(rule, *new, phase=phase) == []


def test_every_rule_has_a_hit_and_a_clean_case() -> None:
    # No behaviour, but what calls said (test_refused_then_accepted.py) and requests (test_request_field.py).
    by_answers = {"refused-then-accepted", "request-field"}
    assert {h[0] for h in HITS} == {c[0] for c in CLEAN} == set(BY_ID) - by_answers


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.meta.id)
def test_a_rule_has_a_whole_page(rule: SignalRule) -> None:
    meta = rule.meta
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", meta.id)
    assert len(rule.page.split("\n\n")) >= 3, "docstring: what, why, what to do"
    assert meta.stage is FindingStage.BEHAVIOUR
    assert meta.cwe
    assert all(re.fullmatch(r"T\d{4}(\.\d{3})?", technique) for technique in meta.attack)
    assert meta.attack
    assert meta.title
    assert meta.help.endswith(".")
    assert meta.remediation.endswith(".")


def test_messages_hold_no_text_from_the_change() -> None:
    evil = "PWNED<script>"
    for _, new, phase, _ in HITS:
        marked = tuple(
            replace(
                b,
                actor=f"{b.actor}>{evil}" if not b.detail.get("program") else b.actor,
                detail={**b.detail, "argv": f"{b.detail.get('argv', '')} {evil}", "name": evil},
            )
            for b in new
        )
        for finding in signals(context(*marked, phase=phase)):
            assert evil not in finding.message


@pytest.mark.parametrize(
    ("how", "words"),
    [("", "Ended the run"), ("timed-out", "its time was up"), ("threads-left", "threads still ran")],
)
def test_a_run_that_nothing_ended_is_not_told_as_ended(how: str, words: str) -> None:
    (finding,) = findings("early-exit", behaviour("exit", "without-completion", exit_code="1", how=how))
    assert words in finding.message


def test_nothing_new_is_no_finding() -> None:
    empty = replace(context(), diff=BehaviourDiff(gone=tuple(h[1][0] for h in HITS), unchanged_count=9))
    assert signals(empty) == ()


def test_findings_do_not_depend_on_anything_else() -> None:
    everything = context(*(b for hit in HITS for b in hit[1]))
    assert signals(everything) == signals(everything)
    assert len({f.fingerprint for f in fingerprinted(signals(everything))}) == len(signals(everything))


class TestLocation:
    """Where a finding points."""

    def test_the_hint_when_the_change_touched_that_line(self) -> None:
        seen = behaviour("connect", "203.0.113.7:1", at=Location(path="shop/net.py", line=7), reach="outside")
        files = (changed("shop/cart.py", (1, 5)), changed("shop/net.py", (5, 5)))
        [finding, *_] = signals(context(seen, files=files))
        assert finding.primary == Location(path="shop/net.py", line=7)

    @pytest.mark.parametrize(
        "hint",
        [
            Location(path="shop/net.py", line=99),
            Location(path="other.py", line=1),
            Location(path="shop/net.py"),
        ],
    )
    def test_never_a_hint_outside_the_change(self, hint: Location) -> None:
        seen = behaviour("connect", "203.0.113.7:1", at=hint, reach="outside")
        files = (changed("shop/net.py", (5, 5)), changed("shop/cart.py", (1, 5)))
        [finding, *_] = signals(context(seen, files=files))
        assert finding.primary == Location(path="shop/cart.py")

    def test_the_first_changed_file_when_the_probe_has_none(self) -> None:
        seen = behaviour("dns", "c2.example")
        found = signals(context(seen, files=(changed("b.py"), changed("c.py")), runs=(run(path=None),)))
        assert found[0].primary.path == "b.py"

    def test_a_deleted_file_before_nothing_at_all(self) -> None:
        seen = behaviour("dns", "c2.example")
        assert signals(context(seen, files=(changed("b.py", status="deleted"),)))[0].primary.path == "b.py"
        assert signals(context(seen, files=()))[0].primary.path == "."


def test_the_least_asked_for_phase_counts() -> None:
    seen = behaviour("dns", "c2.example", probes=("p2", "p1"))
    runs = (run("test", probe="p2"), run("import", probe="p1"))
    [finding] = signals(context(seen, runs=runs))
    assert finding.severity.value == "high"
    assert finding.evidence["phase"] == "import"
    assert finding.evidence["probe"] == "test shop.cart"


def test_a_behaviour_of_an_unknown_probe_is_still_told() -> None:
    [finding] = signals(context(behaviour("dns", "c2.example", probes=("gone",)), runs=()))
    assert "probe" not in finding.evidence


def test_many_subjects_stay_short() -> None:
    reads = [behaviour("read", f"/opt/data/{chr(97 + n)}") for n in range(20)]
    [finding] = signals(context(*reads))
    assert finding.evidence["subject"].endswith(" and 12 more")
    assert finding.evidence["times"] == "20"


def test_evidence_is_cut_and_says_when_refused() -> None:
    [finding] = findings("escape-attempt", behaviour("denied", "mount", denied=True, arguments="x" * 9999))
    assert len(finding.evidence["arguments"]) == 300
    assert finding.evidence["denied"] == "yes"


@pytest.mark.parametrize(
    ("new", "phase", "least", "most"),
    [
        ((behaviour("connect", "203.0.113.7:4444", reach="outside", proto="tcp"),), "import", 70, 100),
        ((behaviour("dns", "c2.example"),), "import", 70, 100),
        ((behaviour("canary", "ssh-key", channel="read", canary="ssh-key"),), "import", 70, 100),
        ((behaviour("write", "~/.bashrc", place="home"),), "script", 70, 100),
        ((behaviour("listen", "any:4444", reach="none"),), "import", 70, 100),
        ((behaviour("evade", "writes to the gate's files"),), "test", 95, 100),
        ((command("git describe --tags"),), "script", 0, 9),
        ((command("python -c pass"),), "test", 0, 9),
        ((behaviour("write", "~/.cache/x", place="home"),), "import", 0, 9),
        ((behaviour("listen", "loopback:*", reach="loopback"),), "test", 0, 0),
        ((behaviour("read", "/etc/passwd"),), "test", 5, 29),
        ((behaviour("probe", "cpu"), behaviour("probe", "cgroup")), "import", 0, 9),
        ((behaviour("dns", "x.example"),), "test", 10, 29),
    ],
)
def test_weights_as_a_maintainer_would_have_them(
    new: tuple[Behaviour, ...], phase: Phase, least: int, most: int
) -> None:
    assert least <= score(signals(context(*new, phase=phase)), load_policy()).value <= most


def test_a_secret_that_is_wrapped_on_its_way_out_is_hidden() -> None:
    plain, wrapped = (
        findings("canary-leaves", behaviour("canary", "k", channel="stdout", canary="k", encoding=encoding))
        for encoding in ("", "base85+reversed")
    )
    assert plain[0].message == "A planted secret appears in what the program leaves behind."
    assert wrapped[0].message == "A planted secret is hidden in what the program leaves behind."
    assert wrapped[0].severity.rank >= plain[0].severity.rank


def test_what_a_new_dependency_does_is_told_as_its_own() -> None:
    record = run("import")
    record = replace(record, probe=replace(record.probe, dependency="rooftop 1.2"))
    (found,) = BY_ID["new-outbound-connection"].check(
        context(behaviour("connect", "203.0.113.7:4444", reach="outside"), runs=(record,))
    )
    assert found.evidence["dependency"] == "rooftop 1.2"
    assert found.message.endswith("a dependency that the change brings does it.")


def test_a_name_that_is_drawn_anew_is_no_other_act() -> None:
    """Under a condition, too, a program writes its own file: only its random name is another one."""
    first, again = "tree:out/report-x7Kq2PzR.txt", "tree:out/report-b4Tw9LmC.txt"
    drawn = behaviour("write", again, place="tree", probes=("p1~ci",))
    assert findings("acts-only-when", behaviour("write", first, place="tree"), drawn) == []
    assert findings("acts-only-when", behaviour("write", "tree:out/all.txt", place="tree"), drawn)


@pytest.mark.parametrize(
    ("kind", "subject", "detail", "told"),
    [
        ("dns", "drop.example", {}, True),
        ("dns", "mirror.example", {}, False),  # another endpoint that base names
        ("connect", "198.51.100.7:443", {"host": "mirror.example"}, False),
        ("connect", "198.51.100.7:443", {"host": "drop.example"}, True),
        ("write", "~/.local/state/shop/unsent.json", {"place": "home"}, False),
        ("exec", "logger failed", {}, False),
        ("canary", "AWS_SECRET_ACCESS_KEY", {"channel": "network", "canary": "k"}, True),
    ],
)
def test_what_an_outage_wakes(kind: str, subject: str, detail: dict[str, str], told: bool) -> None:
    during = run("call", probe="p1~outage", condition=OUTAGE)
    done = behaviour(kind, subject, probes=("p1~outage",), **detail)
    seen = replace(context(done, runs=(run("call"), during)), hosts_at_base=frozenset({"mirror.example"}))
    found = list(BY_ID["acts-only-when"].check(seen))
    assert [one.message for one in found] == [
        "Does this only when requests have failed, not while they succeed."
    ] * told
