"""The HTML page: its script, its links, its pictures, its size and its colours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.change import Tree
from gate.model.excerpt import Excerpt
from gate.model.finding import fingerprinted
from gate.model.location import Location
from gate.report import story
from gate.report.forge_links import blob_url, line_url
from gate.report.from_json import as_report
from gate.report.html import HtmlReporter
from gate.report.json_v1 import JsonReporter, decode
from gate.stages.excerpts import with_excerpts
from tests.golden import sample

PAGE = HtmlReporter().render(sample.hostile())
FORGE = f"https://forge.example/shop/shop/blob/{sample.HEAD}"


def test_the_policy_names_our_script_by_its_hash() -> None:
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', PAGE)[1])  # type: ignore[index]
    script = re.search(r"<script>(.*?)</script>", PAGE, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "innerHTML" not in script[1]


def test_every_name_is_there_once_and_every_inner_link_has_its_goal() -> None:
    names = Counter(re.findall(r'\bid="([^"]+)"', PAGE))
    assert set(names.values()) == {1}
    assert set(re.findall(r'href="#([^"]+)"', PAGE)) <= set(names)


def test_headings_skip_no_level_and_controls_have_names() -> None:
    levels = [int(level) for level in re.findall(r"<h(\d)[ >]", PAGE)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all("aria-label" in tag for tag in re.findall(r"<input[^>]*>", PAGE))
    assert all(text.strip() for text in re.findall(r"<button[^>]*>(.*?)</button>", PAGE))
    assert all("aria-label" in tag for tag in re.findall(r"<svg[^>]*>", PAGE))


def test_two_hundred_findings_with_code_stay_small() -> None:
    base, lines = sample.hostile(), tuple(f"value_{n} = compute(first, second, third)" for n in range(7))
    places = [Location(path=f"src/module_{n % 40}.py", line=10 + n) for n in range(200)]
    many = [replace(base.findings[2], locations=(place,), shape=str(place)) for place in places]
    code = [Excerpt(path=p.path, first=(p.line or 4) - 3, lines=lines) for p in places[:100]]
    report = replace(base, findings=fingerprinted(many), excerpts=tuple(code), blob_url=FORGE)
    page = HtmlReporter().render(report)
    assert page.count("<details") == 200
    assert len(page.encode()) < 400_000


def test_code_of_the_change_is_text_with_links_to_its_lines() -> None:
    line = '<script>alert(1)</script>"\u202e'
    excerpt = Excerpt(path="shop/telemetry.py", first=30, lines=("a = 1", line, "b = 2"))
    report = replace(sample.hostile(), excerpts=(excerpt,), blob_url=FORGE)
    page = HtmlReporter().render(report)
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page
    assert f'href="{FORGE}/shop/telemetry.py#L31"' in page
    again = as_report(decode(JsonReporter().render(report).encode()))
    assert (again.excerpts[0].path, again.excerpts[0].first, again.blob_url) == (
        "shop/telemetry.py",
        30,
        FORGE,
    )


@pytest.mark.parametrize("base", ["javascript:alert(1)", "http://forge.example/a", 'https://x/"onclick=', ""])
def test_no_other_address_becomes_a_link(base: str) -> None:
    assert line_url(base, "a.py", 1) == ""


def test_where_the_forge_is() -> None:
    head = sample.HEAD
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "shop/shop",
        "GITHUB_SERVER_URL": "https://f.example",
    }
    assert blob_url(github, head) == f"https://f.example/shop/shop/blob/{head}"
    gitlab = {"GITLAB_CI": "true", "CI_PROJECT_URL": "https://l.example/shop"}
    assert blob_url(gitlab, head) == f"https://l.example/shop/-/blob/{head}"
    assert blob_url({}, head) is None
    assert blob_url(github, None) is None
    assert line_url(FORGE, "../x", 1) == ""
    assert line_url(FORGE, "a b/ü#.py", 3) == f"{FORGE}/a%20b/%C3%BC%23.py#L3"


class _Tree:
    def __init__(self, **files: bytes) -> None:
        self.files = {name.replace("__", "."): data for name, data in files.items()}

    def read_many(self, paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(path, self.files[path]) for path in paths if path in self.files]


def _excerpts(text: bytes, secrets: tuple[str, ...] = ()) -> tuple[Excerpt, ...]:
    finding = replace(sample.hostile().findings[0], locations=(Location(path="a.py", line=5),))
    tree: Tree = _Tree(a__py=text)  # type: ignore[assignment]
    return with_excerpts(replace(sample.hostile(), findings=(finding,)), tree, secrets).excerpts


def test_lines_around_a_finding_without_secrets() -> None:
    text = b"".join(b"line %d hunter2hunter2\r\n" % n for n in range(1, 20))
    (one,) = _excerpts(text, ("hunter2hunter2",))
    assert (one.first, len(one.lines)) == (2, 7)
    assert one.lines[0] == "line 2 [redacted]"


def test_no_lines_of_a_file_whose_lines_move_or_that_is_no_text() -> None:
    key = b"-----BEGIN PRIVATE KEY-----\n" + b"MIIE\n" * 9 + b"-----END PRIVATE KEY-----\n"
    assert _excerpts(key) == ()
    assert _excerpts(b"a\n\0\n" * 9) == ()


def test_a_common_axis_for_both_sides_and_all_lanes() -> None:
    first = Behaviour(kind=BehaviourKind.READ, subject="/a", first_seen=0.5)
    last = Behaviour(kind=BehaviourKind.CONNECT, subject="192.0.2.1:1", first_seen=1.5)
    unknown = Behaviour(kind=BehaviourKind.READ, subject="/b")
    shown = story.lanes([unknown, last], [first])
    clock = story.clock(shown)
    assert clock is not None
    assert clock.marks([first]) == (45,)
    assert clock.marks([unknown, last, last]) == (955,)
    assert story.clock(story.lanes([unknown], [])) is None
    assert story.in_time([unknown, last, first]) == (first, last, unknown)


def test_programs_and_destinations() -> None:
    kind = BehaviourKind
    items = [
        Behaviour(kind=kind.EXEC, subject="/bin/sh", actor="python>sh"),
        Behaviour(
            kind=kind.CONNECT,
            subject="198.51.100.7:443",
            actor="python>sh>curl",
            detail={"host": "c.invalid"},
        ),
        Behaviour(
            kind=kind.CANARY,
            subject="k in tcp 198.51.100.7:443",
            actor="python>sh>curl",
            detail={"channel": "tcp", "to": "198.51.100.7:443"},
        ),
    ]
    tree = story.process_tree(items)
    assert tree is not None
    assert (tree.name, list(tree.started), tree.started["sh"].started["curl"].steps) == ("python", ["sh"], 2)
    drawn = story.network_map(items)
    assert drawn is not None
    assert drawn.words == "Network map: curl to c.invalid (198.51.100.7:443) with a planted secret"
    assert story.network_map(items[:1]) is None
    assert {k for _, kinds in story.LANES for k in kinds} == set(BehaviourKind)


def _luminance(colour: str) -> float:
    wide = colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
    parts = [int(wide[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_of_both_palettes() -> None:
    import gate.report.html as page

    style = (Path(page.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]+)", block))
        for ground in ("paper", "soft"):
            for text in ("ink", "dim", "fail", "warn", "pass", "inconclusive"):
                pair = sorted((_luminance(colours[ground]), _luminance(colours[text])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (ground, text)


def test_a_change_that_is_not_committed_has_no_head() -> None:
    from gate.report.registry import REPORTERS

    report = sample.hostile()
    loose = replace(report, change=replace(report.change, head=None))
    pages = {name: one.render(loose) for name, one in REPORTERS.items()}
    assert "to what is not committed" in pages["html"]
    assert all(pages.values())
    assert all("None" not in page for name, page in pages.items() if name in ("html", "markdown", "terminal"))
