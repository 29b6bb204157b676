"""The comment on a pull request: the answer first, nothing in it that we did not write, never too long."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from hypothesis import example, given, settings

from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.location import Location
from gate.model.report import Report
from gate.model.run import Completeness
from gate.model.score import Verdict
from gate.model.stage import Stage, StageOutcome
from gate.report.annotations import annotate, step_summary
from gate.report.markdown import MOST_CHARACTERS, REPORTER, MarkdownReporter, behaviour_row
from gate.report.rendering import markdown_environment
from gate.report.rule_pages import page_url
from gate.stages.rule_index import rulebook
from tests.golden import sample
from tests.golden.nasty import NASTY, nasty
from tests.golden.rendered import REFERENCES, html_of, look_at
from tests.paths import REPOSITORY
from tests.unit.test_escape import HOSTILE, is_command


def first_lines(report: Report) -> list[str]:
    return REPORTER.render(report).splitlines()[:6]


def test_the_first_lines_are_the_answer() -> None:
    """The fact, what ran, what it does, the worst, what to do; then the table, open where it blocks."""
    text = REPORTER.render(sample.hostile())
    verdict, ran, does, worst, following, blind, score = text.splitlines()[:7]
    assert "Blocked: on import, `shop/telemetry.py` reads" in verdict
    assert "Ran 42 of 48 changed lines (88 %)" in ran
    assert "6 lines did not: a dependency is missing" in ran
    assert "198.51.100.7:443" in does
    assert "critical" in worst
    assert "shop/telemetry.py:31-33" in worst
    assert "Remove the code" in following
    assert "Could not look" in blind
    assert "94 of 100" in score
    assert "hard block" in score
    assert text.index("<details open>") < text.index("| reads planted secret |") < text.index("```mermaid")
    assert text.count("<details open>") == 1


def test_harmless_change_is_told_in_few_words() -> None:
    """What a pass rests on stands in its heading, and nowhere else."""
    verdict, following, score = first_lines(sample.harmless())[:3]
    assert verdict == "### ✅ Passed: ran 9 of 9 changed lines (100 %), nothing new was seen"
    assert following.endswith("Nothing has to be done.")
    assert score == "- **Score:** 0 of 100 (warns from 30, blocks from 70)"
    assert "<details open>" not in REPORTER.render(sample.harmless())


def test_a_pass_of_which_lines_did_not_run_says_why() -> None:
    lines = first_lines(replace(sample.harmless(), exercised=sample.figure()))
    assert "42 of 48" in lines[0]
    assert "6 lines did not" in lines[1]


def test_what_the_heading_says_is_not_said_again() -> None:
    """Where the worst finding is the heading, there is no second line of it."""
    report = replace(sample.hostile(), behaviour=replace(sample.hostile().behaviour, new=()))
    found = tuple(f for f in report.findings if f.stage.value != "behaviour")[:1]
    text = REPORTER.render(replace(report, findings=found))
    above = text[: text.index("<details")]
    assert found[0].message[1:].rstrip(".") in above.splitlines()[0]
    assert "Worst finding" not in above


def test_not_having_looked_is_said_at_once_and_never_as_nothing_new() -> None:
    text = REPORTER.render(sample.blind())
    lines = text.splitlines()
    assert "Inconclusive" in lines[0]
    assert "sandbox could not look" in lines[0]
    assert "no container engine answers" in lines[1]
    assert "`sandbox.backend`" in lines[2]
    assert "nothing new was seen" not in text
    above = text[: text.index("<details>")]
    assert above.count("no container engine answers") == 1


@pytest.mark.parametrize(
    ("name", "outcome", "setting"),
    [
        ("sandbox", StageOutcome.FAILED, "`sandbox.backend`"),
        ("sandbox", StageOutcome.DEGRADED, "`sandbox.budget`"),
        ("prescreen:semgrep", StageOutcome.DEGRADED, "`prescreen.deadline`"),
        ("setup", StageOutcome.FAILED, "`sandbox.egress_allow`"),
        ("attribution", StageOutcome.FAILED, "`gate doctor`"),
    ],
)
def test_what_could_not_look_names_its_setting(name: str, outcome: StageOutcome, setting: str) -> None:
    stage = Stage(name=name, outcome=outcome, reason="it did not answer")
    lines = REPORTER.render(replace(sample.blind(), stages=(stage,))).splitlines()
    assert "it did not answer" in lines[1]
    assert lines[2].startswith("- **Next:** ")
    assert setting in lines[2]


SKELETON = look_at(REPORTER.render(nasty("word"))).tags


@settings(deadline=None, max_examples=60)
@given(HOSTILE)
@example("@" * 10_000)
@example("\U0001f389" * 10_000)
@example("<" * 10_000)
@pytest.mark.slow
def test_no_text_of_a_change_builds_anything(text: str) -> None:
    made = REPORTER.render(nasty(text))
    seen = look_at(made)
    # the same elements as with a plain word, except where an empty text leaves a code span or a note out
    assert (
        {tag: n for tag, n in seen.tags.items() if tag not in ("code", "tr", "td", "li")}
        == {tag: n for tag, n in SKELETON.items() if tag not in ("code", "tr", "td", "li")}
        or not text.strip()
        or len(text) > 1_000
    )
    assert not set(seen.tags) - set(SKELETON)
    assert not {"a", "img", "input", "script"} & set(seen.tags)
    assert not seen.oddities
    assert not REFERENCES.search(seen.text)
    assert len(made.encode()) <= MOST_CHARACTERS


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.slow
def test_known_tricks_leave_the_same_skeleton(text: str) -> None:
    seen = look_at(REPORTER.render(nasty(text)))
    same = {t: n for t, n in seen.tags.items() if t != "code"}
    assert same == {t: n for t, n in SKELETON.items() if t != "code"} or not text.strip()
    assert not seen.oddities
    assert not REFERENCES.search(seen.text)


@pytest.mark.parametrize(
    "path", ["a b.py", "](http://evil.example)", "x?y#z", "\udcff", "a\nb", "é/`.py", "javascript:x"]
)
def test_permalinks_lead_to_our_blob_url_only(path: str) -> None:
    base = "https://github.com/o/r/blob/" + sample.HEAD
    made = MarkdownReporter(blob_url=base).render(nasty(path))
    seen = look_at(made)
    assert seen.tags["a"] >= 5
    assert {t: n for t, n in seen.tags.items() if t not in ("code", "a")} == {
        t: n for t, n in SKELETON.items() if t not in ("code", "a")
    }
    targets = re.findall(r'href="([^"]*)"', html_of(made))
    assert len(targets) == seen.tags["a"]
    pages = re.compile(r"https://github\.com/gate-ci/gate/blob/v[0-9.]+/docs/rules/[\w.-]+\.md")
    assert all(t.startswith(base + "/") or pages.fullmatch(t) for t in targets)


def test_rules_lead_to_their_pages_on_a_forge_and_a_scanners_have_none() -> None:
    made = MarkdownReporter(blob_url="https://github.com/o/r/blob/" + sample.HEAD).render(sample.hostile())
    named = set(re.findall(r"docs/rules/([\w.-]+\.md)\)", made))
    assert {"py.env-harvest.md", "py.install-hook.md"} <= named
    assert "bandit" not in "".join(named)
    assert "docs/rules" not in REPORTER.render(sample.hostile())


def test_every_rule_of_ours_has_the_page_that_is_linked() -> None:
    for meta in rulebook().all():
        url = page_url(meta.id, {meta.id})
        assert bool(url) == (meta.origin != "bandit"), meta.id
        assert not url or (REPOSITORY / "docs/rules" / url.rpartition("/")[2]).is_file(), meta.id
    assert page_url("semgrep-somebodys", ()) == ""


@pytest.mark.parametrize("path", ["../../x", "a/./b", "/x", ".."])
def test_a_path_that_climbs_gets_no_link(path: str) -> None:
    made = MarkdownReporter(blob_url="https://github.com/o/r/blob/abc").render(nasty(path))
    assert "https://github.com/o/r/blob" not in made


@pytest.mark.slow
def test_thirty_thousand_cheap_findings_do_not_bury_the_critical_one() -> None:
    report = sample.buried()
    started = time.process_time()
    text = REPORTER.render(report)
    assert time.process_time() - started < 10
    assert len(text) < 65_536
    assert "leaks planted secret" in text.splitlines()[2]
    assert "critical" in text.splitlines()[3]
    assert "more findings, none worse, in report.json" in text


def test_everything_too_much_at_once_still_fits() -> None:
    big = nasty("@🎉<" * 3_000)
    many = replace(
        big,
        findings=big.findings * 400,
        stages=big.stages * 30,
        reasons=big.reasons * 300,
        commits=big.commits * 400,
        behaviour=BehaviourDiff(new=big.behaviour.new * 300, gone=big.behaviour.new * 300),
        sandbox=replace(
            big.sandbox, runs=big.sandbox.runs * 100, not_exercised=big.sandbox.not_exercised * 500
        ),
    )
    text = REPORTER.render(many)
    assert len(text.encode()) <= MOST_CHARACTERS
    assert "more" in text
    assert "Blocked" in text.splitlines()[0]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_its_word(verdict: Verdict) -> None:
    text = REPORTER.render(replace(sample.hostile(), verdict=verdict))
    assert {"pass": "Passed", "warn": "Look", "fail": "Blocked", "inconclusive": "Inconcl"}[
        verdict.value
    ] in text


# ---- annotations and the step summary ----------------------------------------------------------------


def test_annotations_tell_the_worst_and_count_the_rest() -> None:
    lines = annotate(sample.buried()).splitlines()
    assert lines[0].startswith("::error title=gate could not look::prescreen:semgrep")
    assert lines[1].startswith("::error file=shop/telemetry.py,line=31,endLine=33,")
    assert sum(line.startswith("::") for line in lines) == 1 + 50 + 1
    assert "29951 more findings" in lines[-3]
    assert lines[-2].startswith("gate: Ran 42 of 48 changed lines (88 %)")


@settings(deadline=None, max_examples=60)
@given(HOSTILE)
@example("\ud800")
def test_no_text_of_a_change_adds_a_command(text: str) -> None:
    lines = annotate(nasty(text)).splitlines()
    ours = annotate(nasty("word")).splitlines()
    assert len(lines) == len(ours)
    for line, our in zip(lines, ours, strict=True):
        assert is_command(line) == is_command(our) or "##" in line
        assert line.split(" ")[0] == our.split(" ")[0]
        assert line.split("::")[1].count(",") == our.split("::")[1].count(",") if is_command(our) else True


def test_step_summary_is_the_comment_with_our_note() -> None:
    text = step_summary(sample.hostile(), note="The token may not comment.")
    assert text.endswith("The token may not comment.\n")
    assert text.startswith("### ⛔ Blocked")


def test_unplaced_finding_and_plain_path_oddities() -> None:
    report = sample.hostile()
    whole_file = tuple(replace(f, locations=(Location(path="\udcff.py"),)) for f in report.findings)
    text = annotate(replace(report, findings=whole_file))
    assert "file=\\xff.py,title=" in text
    assert "`\\xff.py`" in REPORTER.render(replace(report, findings=whole_file))


def test_lost_events_are_told() -> None:
    report = sample.hostile()
    lost = replace(report.sandbox, completeness=Completeness(dropped=7, unparsed=2, truncated=True))
    text = REPORTER.render(replace(report, sandbox=lost))
    assert "7 events dropped, 2 not understood, cut short" in text


def test_loose_files_are_repeated_with_gate_run() -> None:
    loose = replace(sample.CHANGE, base=None, head=None, merge_base=None)
    assert "gate run PATH" in REPORTER.render(replace(sample.hostile(), change=loose))


def test_advice_where_no_rule_and_no_stage_says_more() -> None:
    report = replace(sample.hostile(), rules={}, stages=())

    def advice(verdict: Verdict) -> str:
        lines = REPORTER.render(replace(report, verdict=verdict)).splitlines()
        return next(line for line in lines[:8] if line.startswith("- **Next:**"))

    assert "override" in advice(Verdict.FAIL)
    assert "gate doctor" in advice(Verdict.INCONCLUSIVE)
    assert "small findings are listed" in advice(Verdict.PASS)


def test_templates_refuse_what_is_not_text_or_a_number() -> None:
    with pytest.raises(TypeError, match="text and whole numbers only"):
        markdown_environment().from_string("{{ x }}").render(x=object())


@pytest.mark.parametrize(
    ("channel", "subject", "verb", "extra"),
    [
        ("read", "aws-credentials", "reads planted secret", ""),
        ("then-network", "netrc then network", "reads planted secret", ""),
        ("tcp", "aws-credentials in tcp 203.0.113.7:4444", "leaks planted secret", ""),
        ("http", "aws-credentials", "leaks planted secret", "http"),
    ],
)
def test_a_secret_that_was_only_read_is_not_called_leaked(
    channel: str, subject: str, verb: str, extra: str
) -> None:
    """Requests opens ~/.netrc before it connects: that alone is no leak, and nothing is said twice."""
    item = Behaviour(kind=BehaviourKind.CANARY, subject=subject, detail={"channel": channel})
    row = behaviour_row(item)
    assert (row["verb"], row["extra"]) == (verb, extra)
