"""Holes and their secure twins by class: what the static look says of each, beside Bandit and Semgrep.

    python bench/labelled.py [mixed|small|fresh|all] [--seed N] [--semgrep-rules FOLDER] [--only CLASS]

A hole counts as found when a finding at medium or above has one of its CWEs (or a parent or child of it); a
twin with such a finding is a false alarm. ``score`` is the share of holes found less the share of twins
reported, as benchmarks of scanners count. ``injection`` sums up the classes in which a value decides.
``other`` counts twins with findings at medium or above of any other kind.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.prescreen import bandit_alone, number, public_rules, related, semgrep_alone
from gate.prescreen.python_ast.scanner import hits, parse, severity_of
from gate.prescreen.run import prescreen
from gate.prescreen.scanners.semgrep_rules import merged_rules
from tests.prescreen_support import make_request
from tests.vulnerable.labelled import labelled
from tests.vulnerable.mixed.generate import Handler

INJECTION = frozenset({
    "command", "code", "sql", "nosql", "xpath", "ldap", "xss", "template", "path", "xxe", "deserialisation",
    "redirect", "ssrf", "trust", "header", "log",
})  # fmt: skip
Rows = dict[int, list[tuple[str, set[int], str]]]
"""Number of the handler -> severity, CWEs and rule of each finding."""


def main() -> int:
    """Measure, print JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="?", default="all", choices=("mixed", "small", "fresh", "all"))
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--per-class", type=int, default=12)
    parser.add_argument("--semgrep-rules", type=Path)
    parser.add_argument("--only", metavar="CLASS")
    parser.add_argument("--each", action="store_true", help="tell each hole missed and each twin reported")
    parser.add_argument("--tree", action="store_true", help="of gate only the rules on the syntax tree")
    parser.add_argument("--alone", action="store_true", help="Bandit and Semgrep, too")
    arguments = parser.parse_args()
    every = labelled(arguments.corpus, arguments.seed, arguments.per_class)
    chosen = [h for h in every if arguments.only in (None, h.weakness)]
    look_at = by_tree if arguments.tree else ours
    tools: dict[str, Callable[[], Rows]] = {"gate": lambda: look_at(chosen)}
    if arguments.alone:
        tools["bandit"] = lambda: bandit(chosen)
        tools["semgrep"] = lambda: semgrep(chosen, arguments.semgrep_rules)
    out: dict[str, object] = {"handlers": len(chosen)}
    for tool, look in tools.items():
        rows = look()
        out[tool] = table(chosen, rows)
        if arguments.each and tool == "gate":
            each(chosen, rows)
    print(json.dumps(out, indent=1))
    return 0


def ours(chosen: Sequence[Handler]) -> Rows:
    """The whole static look at each handler's change, with the files around it new as well."""
    rows: Rows = {}
    for n, handler in enumerate(chosen):
        result = prescreen(make_request(handler.files))
        rows[n] = [
            (f.severity.value, set(f.cwe), f.rule_id)
            for f in result.findings
            if f.rule_id != "unscanned-file" and f.stage.value == "prescreen"
        ]
    return rows


def by_tree(chosen: Sequence[Handler]) -> Rows:
    """Only our rules on Python's syntax tree, in this process: seconds instead of minutes."""
    rows: Rows = {}
    for n, handler in enumerate(chosen):
        module = parse(handler.main, handler.files[handler.main].encode())
        module.others = {
            path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): text
            for path, text in handler.files.items()
            if path != handler.main
        }
        rows[n] = [
            (severity_of(module, rule, hit).value, set(rule.meta.cwe), rule.meta.id)
            for rule, hit in hits(module)
        ]
    return rows


def bandit(chosen: Sequence[Handler]) -> Rows:
    """Bandit by its own command line."""
    rows: Rows = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        folder = written(chosen, Path(place))
        for found in bandit_alone(folder)[0]:
            at = int(Path(found["filename"]).relative_to(folder).parts[0])
            cwe = {int(found.get("issue_cwe", {}).get("id", 0))}
            rows[at].append((found["issue_severity"].lower(), cwe, found["test_id"]))
    return rows


def semgrep(chosen: Sequence[Handler], public: Path | None) -> Rows:
    """Semgrep by its own command line, with its public rules where they are given, else with ours."""
    rows: Rows = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        folder = written(chosen, Path(place) / "code")
        rules = Path(place) / "rules.json"
        rules.write_bytes(json.dumps({"rules": public_rules(public)}).encode() if public else merged_rules())
        for found in semgrep_alone(folder, rules)[0]:
            extra = found["extra"]
            cwes = extra["metadata"].get("cwe", [])
            level = "low" if extra["severity"] in ("INFO", "LOW") else "medium"
            numbers = {number(str(c)) for c in ([cwes] if isinstance(cwes, str | int) else cwes)}
            at = int(Path(found["path"]).resolve().relative_to(folder.resolve()).parts[0])
            rows[at].append((level, numbers, found["check_id"]))
    return rows


def written(chosen: Sequence[Handler], folder: Path) -> Path:
    """Each handler's files in a folder of its number."""
    for n, handler in enumerate(chosen):
        for path, text in handler.files.items():
            place = folder / str(n) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
    return folder


def told(handler: Handler, rows: list[tuple[str, set[int], str]]) -> list[str]:
    """Rules that report the handler's own class at medium or above."""
    return [
        rule
        for level, cwes, rule in rows
        if level != "low" and any(related(a, b) for a in handler.cwes for b in cwes)
    ]


def table(chosen: Sequence[Handler], rows: Rows) -> dict[str, dict[str, float]]:
    """Per class and in all."""
    counts: dict[str, dict[str, float]] = defaultdict(
        lambda: dict.fromkeys(("holes", "found", "twins", "false", "other"), 0)
    )
    for n, handler in enumerate(chosen):
        own = told(handler, rows.get(n, []))
        names = [handler.weakness, "all"] + (["injection"] if handler.weakness in INJECTION else [])
        for name in names:
            row = counts[name]
            row["holes" if handler.hole else "twins"] += 1
            row["found" if handler.hole else "false"] += bool(own)
            if not handler.hole and not own:
                row["other"] += any(level != "low" for level, _, _ in rows.get(n, []))
    for row in counts.values():
        row["score"] = round(row["found"] / max(1, row["holes"]) - row["false"] / max(1, row["twins"]), 3)
    return dict(sorted(counts.items()))


def each(chosen: Sequence[Handler], rows: Rows) -> None:
    """Each that is judged otherwise than labelled, to the error stream."""
    for n, handler in enumerate(chosen):
        own = told(handler, rows.get(n, []))
        every = sorted({f"{rule}:{level}" for level, _, rule in rows.get(n, [])})
        if bool(own) is not handler.hole:
            kind = "MISSED" if handler.hole else "FALSE"
            print(f"{kind} {n} {handler.weakness}: {handler.how} {handler.name} {every}", file=sys.stderr)
        elif not handler.hole and any(level != "low" for level, _, _ in rows.get(n, [])):
            print(f"OTHER {n} {handler.weakness}: {handler.how} {every}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
