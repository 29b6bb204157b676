"""Reports made of text that tries to be something else in the place where it is shown."""

from __future__ import annotations

from dataclasses import replace

from gate.model.behaviour import BehaviourDiff
from gate.model.exercised import Exercised
from gate.model.location import Location
from gate.model.report import Report
from gate.model.run import NotExercised
from tests.golden.sample import hostile

NASTY = (
    "`",
    "``` \n```",
    "a|b",
    "x\ny",
    "](http://evil.example/x)",
    "[c](javascript:alert(1))",
    "![i](http://evil.example/i.png)",
    "<img src=x onerror=alert(1)>",
    "<!-- gate:report -->",
    "-->",
    "@org/team",
    "@bob",
    "#1",
    "fixes #12",
    "GH-7",
    "org/repo#3",
    "deadbeefcafe",
    "http://evil.example",
    "www.evil.example",
    "a@evil.example",
    "mailto:a@evil.example",
    "\n# heading",
    "\n| a | b |\n|---|---|\n",
    "\x1b[2K\x1b[1A",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\r::error::x",
    "::set-env name=A::b",
    "##[add-matcher]x",
    "\u202egpj.exe",
    "zero\u200bwidth",
    "x" * 10_000,
    "\udcff\udc80",
    "{{ 7*7 }}",
    "{% raw %}",
    "\\",
    "\\|",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "</summary></details>",
    "]]>",
    "$x$",
    ":tada:",
    "- item",
    "1. one",
    "    code",
    "> quote",
    "***",
    "===",
    "~~~",
    "[ref]: http://evil.example",
    "<http://evil.example>",
    "",
)


def nasty(text: str) -> Report:
    """A report in which every text that a change can choose is ``text``."""
    report = hostile()
    change = replace(
        report.change,
        repo=text,
        branch=text,
        commits=tuple(replace(c, message=text, author_name=text) for c in report.change.commits),
        files=tuple(replace(f, path=text or "f", old_path=text) for f in report.change.files),
    )
    findings = tuple(
        replace(
            f,
            message=text,
            shape=text,
            locations=(Location(path=text or "f", line=3), Location(path=text, kind="related")),
            evidence={"source": text, "output": text},
            suppressed_by=text or None,
        )
        for f in report.findings
    )
    seen = tuple(
        replace(b, subject=text, actor=text, detail={"argv": text}, at=Location(path=text or "f", line=1))
        for b in report.behaviour.new
    )
    runs = tuple(
        replace(
            r,
            probe=replace(r.probe, target=text, path=text),
            fault=text or None,
            not_run=text,
            stderr=text.encode("utf-8", "replace"),
        )
        for r in report.sandbox.runs
    )
    exercised = Exercised(
        files=tuple(
            replace(
                f,
                path=text or "f",
                language=text,
                unreadable=text if f.unreadable else "",
                unrun=tuple(replace(u, detail=text) for u in f.unrun),
                calls=tuple(replace(c, call=text, text=text, detail=text) for c in f.calls),
            )
            for f in (report.exercised or Exercised()).files
        )
    )
    return replace(
        report,
        change=change,
        findings=findings,
        reasons=(text or "reason",),
        behaviour=BehaviourDiff(new=seen, gone=seen[:1], unchanged_count=1),
        commits=tuple(
            replace(c, evidence=tuple(replace(e, matched=text, where=text) for e in c.evidence), tool=text)
            for c in report.commits
        ),
        sandbox=replace(
            report.sandbox,
            runs=runs,
            not_exercised=(NotExercised(path=text, target=text, reason=text),),
        ),
        stages=tuple(replace(s, reason=text or "reason") for s in report.stages),
        exercised=exercised,
    )
