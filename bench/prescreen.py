"""How much risky code the static look finds, how often it cries wolf, and what it costs. One JSON object.

Ours stands beside Bandit and Semgrep as their own command lines, from the same run. Usage:
bench/prescreen.py [--data FOLDER] [--semgrep-rules FOLDER] [--history REPO ...] [--commits N] [--quick]

``--semgrep-rules`` is a checkout of Semgrep's public rules (semgrep/semgrep-rules on GitHub; not shipped
here): its Python rules of the category security are then the column ``semgrep_public_rules``, with their
number. Without it there is only ``semgrep_gates_rules``: our own YAML rules in Semgrep, which are the
smaller half of what gate looks for.
``--history`` takes local clones; the last N merged, non-merge commits of each are judged as changes. A sample
counts as found when a finding at medium or above has the labelled CWE, its parent or its child.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from gate.model.finding import Finding
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.run import prescreen
from gate.prescreen.scanners.semgrep_rules import merged_rules
from tests.prescreen_support import make_request

# ChildOf relations of the CWE list (research view 1000) among the numbers that occur here.
PARENTS = {
    22: (706,), 23: (22,), 36: (22,), 73: (642, 610), 77: (74,), 78: (77,), 79: (74,), 80: (79,), 89: (943,),
    90: (943,), 91: (74,), 93: (74,), 94: (74, 913), 95: (94,), 96: (94,), 99: (74,), 113: (93,), 116: (707,),
    117: (116,), 20: (707,), 200: (668,), 208: (203,), 209: (200,), 215: (200,), 250: (269,), 252: (754,),
    259: (798,), 269: (284,), 276: (732,), 285: (284,), 287: (284,), 295: (287,), 297: (295,), 306: (287,),
    307: (799,), 312: (311,), 319: (311,), 311: (693,), 321: (798,), 326: (693,), 327: (693,), 328: (327,),
    330: (693,), 331: (330,), 335: (330,), 338: (330,), 339: (335,), 347: (345,), 352: (345,), 367: (362,),
    377: (668,), 378: (377,), 379: (377,), 400: (664,), 405: (400,), 406: (405,), 409: (405,), 425: (862,),
    434: (669,), 502: (913,), 521: (1391,), 522: (668,), 595: (1025,), 601: (610,), 611: (610,), 614: (319,),
    641: (99,), 643: (943, 91), 703: (), 732: (285, 668), 759: (916,), 760: (916,), 770: (400,), 776: (405,),
    798: (1391, 344), 827: (829,), 829: (669,), 862: (285,), 863: (285,), 916: (328,), 918: (441,),
    941: (923,), 943: (74,), 1004: (732,), 1204: (330,), 1333: (407,), 407: (405,), 1236: (74,), 835: (834,),
    841: (691,), 193: (682,), 369: (682,), 476: (754,), 755: (703,), 754: (703,), 1336: (94,),
}  # fmt: skip


def related(one: int, two: int) -> bool:
    """The same weakness, or parent and child."""
    return one == two or two in PARENTS.get(one, ()) or one in PARENTS.get(two, ())


def number(text: str) -> int:
    """The CWE number in a text, 0 without one."""
    match = re.search(r"\d+", text)
    return int(match[0]) if match else 0


def load(path: Path) -> list[dict[str, str]]:
    """One JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judged(samples: list[dict[str, str]], told: dict[str, list[tuple[str, set[int]]]]) -> dict[str, Any]:
    """``told``: sample id -> (severity, CWEs) of each finding."""
    medium = {i: [c for level, c in rows if level != "low"] for i, rows in told.items()}
    bad = [s for s in samples if s["label"] == "insecure"]
    good = [s for s in samples if s["label"] != "insecure"]
    hit = [
        s for s in bad if any(related(number(s["cwe"]), c) for cwes in medium.get(s["id"], ()) for c in cwes)
    ]
    return {
        "insecure": len(bad),
        "labelled_cwe_at_medium": len(hit),
        "any_at_medium": sum(bool(medium.get(s["id"])) for s in bad),
        "any": sum(bool(told.get(s["id"])) for s in bad),
        "secure": len(good),
        "secure_flagged_at_medium": sum(bool(medium.get(s["id"])) for s in good),
        "missed": [f"{s['id']} {s['cwe']}" for s in bad if s not in hit],
        "false_alarms": [s["id"] for s in good if medium.get(s["id"])],
    }


def row(finding: Finding) -> tuple[str, set[int]]:
    """What is kept of a finding."""
    return finding.severity.value, set(finding.cwe)


def ours(samples: list[dict[str, str]]) -> tuple[dict[str, list[tuple[str, set[int]]]], Counter[str]]:
    """Findings of the whole static look, by sample; and how often each rule spoke."""
    head = {f"sample_{n}.py": s["code"] for n, s in enumerate(samples)}
    names = {f"sample_{n}.py": s["id"] for n, s in enumerate(samples)}
    told: dict[str, list[tuple[str, set[int]]]] = {}
    rules: Counter[str] = Counter()
    result = prescreen(make_request(head))
    for stage in result.stages:
        if not stage.looked:
            print(f"{stage.name}: {stage.reason}", file=sys.stderr)
    for finding in result.findings:
        if finding.rule_id != "unscanned-file":
            told.setdefault(names[finding.primary.path], []).append(row(finding))
            rules[finding.rule_id] += 1
    return told, rules


def write(samples: list[dict[str, str]], folder: Path) -> dict[str, str]:
    """The samples as files; file name to sample id."""
    names = {}
    for n, sample in enumerate(samples):
        (folder / f"sample_{n}.py").write_text(sample["code"], "utf-8")
        names[f"sample_{n}.py"] = sample["id"]
    return names


def bandit_alone(folder: Path) -> tuple[list[dict[str, Any]], float]:
    """Bandit by its own command line: results, seconds."""
    done = process.run(
        [Path(sys.executable).with_name("bandit"), "-q", "-r", "-f", "json", "--ignore-nosec", folder],
        deadline=300,
        env={"HOME": str(folder)},
    )
    return json.loads(done.stdout)["results"], done.seconds


def semgrep_alone(folder: Path, rules: Path) -> tuple[list[dict[str, Any]], float]:
    """`semgrep scan` with our rules: results, seconds."""
    quiet = (
        "--json",
        "--quiet",
        "--metrics=off",
        "--disable-version-check",
        "--disable-nosem",
        "--no-git-ignore",
    )
    done = process.run(
        [Path(sys.executable).with_name("semgrep"), "scan", *quiet, "--config", rules, folder],
        deadline=300,
        env={"HOME": str(folder.parent), "SEMGREP_ENABLE_VERSION_CHECK": "0"},
    )
    return json.loads(done.stdout)["results"], done.seconds


def public_rules(folder: Path) -> list[dict[str, Any]]:
    """The rules for Python of the category security below a checkout of Semgrep's public rules."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.yaml")):
        try:
            rules = (yaml.load(path.read_bytes(), Loader=loader) or {}).get("rules", ())  # noqa: S506 - a safe loader
        except (yaml.YAMLError, AttributeError):  # other YAML lies beside the rules
            continue
        for rule in rules:
            security = (rule.get("metadata") or {}).get("category") == "security"
            if security and "python" in rule.get("languages", ()):
                found[rule["id"]] = rule
    return list(found.values())


def alone(samples: list[dict[str, str]], public: Path | None) -> dict[str, Any]:
    """Both tools by their own command lines over the same samples."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "code"
        folder.mkdir()
        names = write(samples, folder)
        rules = Path(place) / "rules.json"
        rules.write_bytes(merged_rules())
        column = "semgrep_gates_rules"
        count = len(json.loads(merged_rules())["rules"])
        if public is not None:
            chosen = public_rules(public)
            if not chosen:
                raise SystemExit(f"no Semgrep rules for Python below {public}")
            rules.write_text(json.dumps({"rules": chosen}))
            column, count = "semgrep_public_rules", len(chosen)
        told: dict[str, dict[str, list[tuple[str, set[int]]]]] = {"bandit": {}, column: {}}
        for found in bandit_alone(folder)[0]:
            name = names[Path(found["filename"]).name]
            cwe = {int(found.get("issue_cwe", {}).get("id", 0))}
            told["bandit"].setdefault(name, []).append((found["issue_severity"].lower(), cwe))
        for found in semgrep_alone(folder, rules)[0]:
            extra = found["extra"]
            cwes = extra["metadata"].get("cwe", [])
            level = "low" if extra["severity"] in ("INFO", "LOW") else "medium"
            numbers = {number(str(c)) for c in ([cwes] if isinstance(cwes, str | int) else cwes)}
            told[column].setdefault(names[Path(found["path"]).name], []).append((level, numbers))
    out: dict[str, Any] = {
        tool: {k: v for k, v in judged(samples, rows).items() if type(v) is int}
        for tool, rows in told.items()
    }
    out[column]["rules"] = count
    both: dict[str, list[tuple[str, set[int]]]] = {}
    for rows in told.values():
        for name, found_here in rows.items():
            both.setdefault(name, []).extend(found_here)
    out["both_tools"] = {k: v for k, v in judged(samples, both).items() if type(v) is int}
    return out


def corpora(data: Path, public: Path | None = None) -> dict[str, Any]:
    """Every labelled set that is there."""
    out: dict[str, Any] = {}
    for name in ("sallm", "cweval"):
        path = data / "insecure" / f"{name}.jsonl"
        if not path.exists():
            out[name] = {"skipped": f"{path.name} is not there"}
            continue
        samples = load(path)
        told, rules = ours(samples)
        out[name] = {
            "gate": judged(samples, told),
            "rules": dict(rules.most_common()),
            **alone(samples, public),
        }
    return out


SMALL = {
    "src/pricing/tax.py": 'RATES = {"DE": 0.19}\n\n\ndef with_tax(net, place):\n    return net * RATES[0]\n',
    "src/pricing/shell.py": "import subprocess\n\n\ndef run(c):\n    return subprocess.call(c, shell=True)\n",
    "tests/test_tax.py": "from pricing.tax import with_tax\n\n\ndef test():\n    assert with_tax(1, 'DE')\n",
}


def resident() -> int:
    """Bytes of all processes below this one and itself, now."""
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except (OSError, IndexError):
            continue
    return total


def speed(*, quick: bool) -> dict[str, Any]:
    """Seconds of the whole static stage, warm, and of both tools one after the other."""
    prescreen(make_request(SMALL))
    times: list[dict[str, float]] = []
    for _ in range(3 if quick else 7):
        start = time.monotonic()
        result = prescreen(make_request(SMALL))
        stages = {s.name: round(s.seconds, 3) for s in result.stages}
        times.append({"whole": round(time.monotonic() - start, 3), **stages})
    out: dict[str, Any] = {
        "three_files_seconds": statistics.median(t["whole"] for t in times),
        "three_files_stages": times[-1],
    }
    with tempfile.TemporaryDirectory() as place:
        folder, rules = Path(place) / "code", Path(place) / "rules.json"
        rules.write_bytes(merged_rules())
        for path, text in SMALL.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        semgrep_alone(folder, rules)
        one, two = semgrep_alone(folder, rules)[1], bandit_alone(folder)[1]
        out["semgrep_scan_then_bandit_seconds"] = round(one + two, 2)
    if not quick:
        out |= thousand() | large()
    return out


def thousand() -> dict[str, Any]:
    """A change of 1,000 files, half of them new: seconds and peak memory of all processes."""
    body = Path(prescreen.__code__.co_filename).read_text("utf-8")
    head = {f"pkg/m{n}.py": f"NUMBER = {n}\n{body}" for n in range(1000)}
    base = {f"pkg/m{n}.py": body for n in range(0, 1000, 2)}
    request = make_request(head, base, deadline=120)
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            peak[0] = max(peak[0], resident())

    thread = threading.Thread(target=watch)
    thread.start()
    start = time.monotonic()
    result = prescreen(request)
    seconds = time.monotonic() - start
    over.set()
    thread.join()
    return {
        "thousand_files_seconds": round(seconds, 2),
        "thousand_files_peak_mib": round(peak[0] / (1 << 20)),
        "thousand_files_looked": all(stage.looked for stage in result.stages),
        "thousand_files_stages": {s.name: round(s.seconds, 2) for s in result.stages},
    }


def large() -> dict[str, Any]:
    """Seconds for files made to be slow."""
    out = {}
    for name, text in (
        ("twenty_mb", "x = 'abcdefgh' + str(1)\n" * 870_000),
        ("nesting", "import os\nos.system(input())\nx = " + "[" * 100_000),
        ("long_sum", "import os\nos.system(input())\nx = 1" + "+0" * 209_644),
    ):
        start = time.monotonic()
        prescreen(make_request({"a.py": text}))
        out[f"{name}_seconds"] = round(time.monotonic() - start, 2)
    return out


def history(repos: list[Path], commits: int) -> dict[str, Any]:
    """Real merged commits: a finding on added lines of these is, nearly always, a false alarm."""
    from gate.change.git_range import open_range

    levels: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    examples: list[str] = []
    looked = 0
    for repo in repos:
        log = ("log", "--no-merges", "--format=%H", f"-{commits}", "--", "*.py")
        shas = process.run(["git", "-C", repo, *log], deadline=120).stdout.decode().split()
        for sha in shas:
            with open_range(repo, f"{sha}~1", sha) as opened, tempfile.TemporaryDirectory() as scratch:
                request = PrescreenRequest(
                    change=opened.change, base=opened.base, head=opened.head, scratch=Path(scratch)
                )
                found = [f for f in prescreen(request).findings if f.stage.value == "prescreen"]
            looked += 1
            worst = max((f.severity.rank for f in found), default=-1)
            levels["medium"] += worst >= 1
            levels["high"] += worst >= 2
            for f in found:
                if f.severity.rank >= 1:
                    rules[f.rule_id] += 1
                    place = f"{f.primary.path}:{f.primary.line}"
                    examples.append(f"{repo.parent.name} {sha[:10]} {f.rule_id} {f.severity.value} {place}")
    share = {f"percent_at_{k}": round(100 * v / max(1, looked), 2) for k, v in levels.items()}
    return {
        "commits": looked,
        **levels,
        **share,
        "rules": dict(rules.most_common()),
        "examples": examples[:60],
    }


def main() -> int:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--semgrep-rules", type=Path, default=None)
    parser.add_argument("--history", type=Path, nargs="*", default=[])
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-speed", action="store_true")
    chosen = parser.parse_args()
    out = corpora(chosen.data, chosen.semgrep_rules)
    if not chosen.no_speed:
        out["speed"] = speed(quick=chosen.quick)
    if chosen.history:
        out["history"] = history(chosen.history, chosen.commits)
    json.dump(out, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
