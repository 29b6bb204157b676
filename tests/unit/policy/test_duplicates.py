"""One weakness on one line is one finding, whoever tells it; and nothing is lost by telling it once."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.cli import main
from gate.model.finding import Finding
from gate.model.location import Location
from gate.policy.duplicates import ALSO, merge_duplicate_findings, tool_of
from gate.policy.policy_file import load_policy
from gate.policy.score import score
from tests.e2e.pulls import Pull, build
from tests.unit.policy.score_findings import finding

POLICY = load_policy()


def _at(rule: str, first: int, last: int | None = None, **more: object) -> Finding:
    told = {"severity": "medium", "confidence": "high", "topic": "tls", **more}
    cwe = told.pop("cwe", (295,))
    made = finding(rule=rule, **told)  # type: ignore[arg-type]
    at = Location(path="a.py", line=first, end_line=last)
    return replace(made, cwe=cwe, locations=(at,))  # type: ignore[arg-type]


OURS = _at("py.tls-unverified", 3, 6)
BANDIT = _at("bandit-b501", 5, 6, severity="high", confidence="medium")


def test_the_precise_one_leads_and_the_strongest_word_stays() -> None:
    (one,) = merge_duplicate_findings([BANDIT, OURS], POLICY)
    assert (one.rule_id, one.primary, one.cwe) == (OURS.rule_id, OURS.primary, OURS.cwe)
    assert (one.severity, one.confidence) == (BANDIT.severity, BANDIT.confidence)
    assert one.evidence[ALSO] == "bandit-b501 (line 5)"
    assert next(iter(one.evidence)) == ALSO, "where there is little room, too"


def test_what_the_leads_shape_does_not_quote_is_in_its_fingerprint() -> None:
    wide = replace(_at("py.tls-unverified", 3, 60), shape="with session:")
    (near,) = merge_duplicate_findings([wide, replace(BANDIT, shape="get(a)")], POLICY)
    far = [replace(_at("bandit-b501", 50), shape=shape) for shape in ("get(a)", "get(b)")]
    told = [merge_duplicate_findings([wide, one], POLICY)[0].shape for one in far]
    assert near.shape == wide.shape
    assert told == ["with session:\nget(a)", "with session:\nget(b)"]


def test_a_rule_that_blocks_by_itself_blocks_as_one_of_several() -> None:
    blocks = msgspec.structs.replace(POLICY.hard_block, rules=(BANDIT.rule_id,))
    policy = msgspec.structs.replace(POLICY, hard_block=blocks)
    (one,) = merge_duplicate_findings([OURS, BANDIT], policy)
    assert policy.blocks(one)


@pytest.mark.parametrize(
    "other",
    [
        _at("py.old-tls", 3, 6),  # the same tool means two things
        _at("bandit-b501", 7),  # another line
        _at("bandit-b501", 5, 7),  # neither in the other
        _at("bandit-b501", 5, cwe=(327,)),  # another weakness
        _at("bandit-b501", 5, cwe=()),
        _at("bandit-b501", 5, topic="network"),
        _at("bandit-b501", 5, stage="behaviour"),
        replace(_at("bandit-b501", 5), locations=(Location(path="b.py", line=5),)),
        replace(_at("bandit-b501", 5), locations=(Location(path="a.py"),)),
    ],
)
def test_other_things_stay_apart(other: Finding) -> None:
    assert Counter(map(repr, merge_duplicate_findings([OURS, other], POLICY))) == Counter(
        map(repr, [OURS, other])
    )


def test_a_general_weakness_is_not_the_same_one() -> None:
    for number in (20, 506):
        ours, theirs = _at("py.url-check", 3, cwe=(number,)), _at("bandit-b310", 3, cwe=(number,))
        assert len(merge_duplicate_findings([ours, theirs], POLICY)) == 2


def test_the_nearest_takes_it_and_two_places_of_one_tool_stay_two() -> None:
    inner = _at("py.tls-unverified", 5)
    found = merge_duplicate_findings([OURS, inner, BANDIT], POLICY)
    assert {f.primary.line: f.evidence.get(ALSO) for f in found} == {3: None, 5: "bandit-b501"}
    found = merge_duplicate_findings([OURS, _at("bandit-b501", 4), _at("bandit-b501", 5)], POLICY)
    assert sorted(f.primary.line or 0 for f in found) == [3, 5]
    (one,) = merge_duplicate_findings([OURS, _at("bandit-b501", 4), _at("bandit-b323", 4)], POLICY)
    assert one.evidence[ALSO] == "bandit-b323 (line 4), bandit-b501 (line 4)"


def test_findings_alike_but_for_their_weakness_are_told_the_same_in_any_order() -> None:
    one, other = (_at("sh-x", 3, severity="critical", cwe=(number,)) for number in (78, 295))
    vague = _at("bandit-b2", 3, 5, cwe=(295, 78))
    first, second = (
        merge_duplicate_findings([one, other, vague], POLICY),
        merge_duplicate_findings([other, one, vague], POLICY),
    )
    assert sorted(map(repr, first)) == sorted(map(repr, second))


def test_what_an_author_or_a_rule_asked_for_is_kept() -> None:
    (one,) = merge_duplicate_findings([OURS, replace(BANDIT, suppressed_by="nosec", hard_block=True)], POLICY)
    assert (one.suppressed_by, one.hard_block) == ("nosec", True)


def _wide(rule: str, first: int, more: int, **rest: object) -> Finding:
    return _at(rule, first, first + more, **rest)


ANY = st.builds(
    _wide,
    rule=st.sampled_from(["py.a", "py.b", "bandit-b1", "bandit-b2", "sh-x"]),
    first=st.integers(1, 3),
    more=st.integers(0, 2),
    severity=st.sampled_from(["low", "medium", "high", "critical"]),
    confidence=st.sampled_from(["low", "medium", "high"]),
    stage=st.sampled_from(["prescreen", "prescreen", "behaviour"]),
    topic=st.sampled_from(["tls", "exec"]),
    cwe=st.sampled_from([(295,), (78,), (295, 78), (20,)]),
)


@given(st.lists(ANY, max_size=15), st.randoms(use_true_random=False))
def test_for_any_findings(findings: list[Finding], chance: object) -> None:
    """Order does not show; once is enough; each finding is still there, or named where it went."""
    once = merge_duplicate_findings(findings, POLICY)
    shuffled = list(findings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Counter(map(repr, merge_duplicate_findings(shuffled, POLICY))) == Counter(map(repr, once))
    assert Counter(map(repr, merge_duplicate_findings(once, POLICY))) == Counter(map(repr, once))
    named = " ".join(f.evidence.get(ALSO, "") for f in once)
    assert {f.rule_id for f in findings} <= {f.rule_id for f in once} | {
        word.strip(",") for word in named.split()
    }
    strongest = max(map(POLICY.points_of, findings), default=0)
    assert max(map(POLICY.points_of, once), default=0) == strongest


@given(st.lists(ANY, max_size=15))
def test_the_score_of_whole_lines_is_as_it_was(findings: list[Finding]) -> None:
    """Equal lines and topics are one place for the score already: telling once takes no point away."""
    lines = [replace(f, locations=(replace(f.primary, end_line=None),)) for f in findings]
    assert score(merge_duplicate_findings(lines, POLICY), POLICY).value == score(lines, POLICY).value


def test_tools() -> None:
    names = ["bandit-b602", "py.sql-built", "secret.assigned", "sh-tls-off", "python-plain-protocol"]
    told = [tool_of(finding(rule=name)) for name in names]
    assert told == ["bandit", "py", "secret", "sh", "python"]


TWICE = '''
    """Weak spots that Bandit tells, too."""

    import os
    import pickle
    import ssl
    import subprocess

    import requests
    import yaml


    def weak(name: str, cursor: object) -> None:
        """Each line for one of them."""
        requests.get("https://a.example", verify=False, timeout=3)
        requests.post(
            "https://a.example",
            timeout=3,
            verify=False,
        )
        ssl._create_unverified_context()
        yaml.load(name)
        subprocess.run("ls " + name, shell=True)
        pickle.loads(name)
        os.system("ls " + name)
        eval(name)
        os.chmod("/srv/x", 0o777)
        cursor.execute("select * from t where n = '" + name + "'")
    '''


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, object]], str]:
    """Findings and comment of a change whose every weak line both tools know."""
    folder = tmp_path_factory.mktemp("twice")
    repo = build(Pull(name="twice", head={"src/pricing/weak.py": TWICE}, verdicts=("fail",)), folder)
    out, text = folder / "r.json", folder / "r.md"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--no-sandbox"]
    main([*words, "--json", str(out), "--markdown", str(text)])
    return json.loads(Path(out).read_text())["findings"], text.read_text()


def test_bandit_and_our_rules_tell_a_line_once(told: tuple[list[dict[str, object]], str]) -> None:
    findings, comment = told
    places = Counter((f["line"], *f["cwe"][:1]) for f in findings)  # type: ignore[index]
    assert max(places.values()) == 1, places
    also = {f["rule_id"]: f["evidence"].get(ALSO) for f in findings}  # type: ignore[attr-defined]
    assert not [f for f in findings if str(f["rule_id"]).startswith("bandit-") and f["severity"] != "low"]
    assert {name for name, other in also.items() if other} == {
        "py.tls-unverified", "py.unsafe-deserialisation", "py.shell-command", "py.dynamic-code",
        "py.file-mode", "py.sql-built",
    }  # fmt: skip
    tls = {f["line"]: f["evidence"][ALSO] for f in findings if f["rule_id"] == "py.tls-unverified"}  # type: ignore[index]
    assert sorted(tls.values()) == ["bandit-b323", "bandit-b501", "bandit-b501 (line 18)"]
    assert comment.count("also seen by") == len([other for other in also.values() if other]) + 4
    assert "also seen by: `bandit-b506`" in comment
