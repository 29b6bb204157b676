"""Calls of functions with a check, where ``set -e`` acts and where it does not; recipes of make."""

from __future__ import annotations

import pytest

from gate.prescreen.meanings.shell import read
from gate.prescreen.scanners.unheeded_checks import unheeded_findings
from tests.prescreen_support import make_request

FETCH = 'fetch() {\n  curl -fsSo a.tgz "$1"\n  sha256sum --check a.sum\n  tar xf a.tgz\n}\n'
LIB = {"lib/release.sh": FETCH}
BASE = '#!/usr/bin/env bash\nset -euo pipefail\n. lib/release.sh\nfetch "$1"\necho done\n'


def told(head: dict[str, str], base: dict[str, str]) -> list[str]:
    for path, text in [*base.items(), *head.items()]:
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = [*unheeded_findings(make_request(head, base), [])]
    return [f"{f.severity.value} {f.evidence.get('stands in') or f.evidence['by']}" for f in found]


def call(text: str) -> dict[str, str]:
    return {**LIB, "install.sh": BASE.replace('fetch "$1"', text)}


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ('until fetch "$1"; do sleep 1; done', "until"),
        ('while ! fetch "$1"; do sleep 1; done', "!"),
        ('if fetch "$1" >/dev/null; then echo ok; fi', "if"),
        ('if false; then :; elif fetch "$1"; then echo ok; fi', "elif"),
        ('fetch "$1" && echo ok', "&&"),
        ('fetch "$1" || exit 1', "||"),
        ('set +e\nfetch "$1"\nset -e', "set +e"),
        ('said=$(fetch "$1")', "$( )"),
        ('readonly said="$(fetch "$1")"', "$( )"),
    ],
)
def test_a_call_that_moves_to_where_nothing_ends_it(text: str, by: str) -> None:
    assert told(call(text), call('fetch "$1"')) == [f"medium {by}"]


@pytest.mark.parametrize(
    "text",
    [
        'set +e\ntrue\nset -e\nfetch "$1"',
        'echo now && fetch "$1"',
        'for one in "$@"; do fetch "$one"; done',
        '( fetch "$1" )',
        'fetch "$1" >/dev/null 2>&1',
        'fetch "$1" | tee log',
        'if true; then fetch "$1"; fi',
    ],
)
def test_calls_that_are_in_order(text: str) -> None:
    assert told(call(text), call('fetch "$1"')) == []


def test_in_front_of_a_pipe_without_pipefail() -> None:
    base = {key: text.replace("-euo pipefail", "-eu") for key, text in call('fetch "$1"').items()}
    head = {key: text.replace("-euo pipefail", "-eu") for key, text in call('fetch "$1" | tee log').items()}
    assert told(head, base) == ["medium |"]


@pytest.mark.parametrize(
    "check",
    [
        "sha256sum --check a.sum || return 1",  # says itself what happens
        "echo no check",
    ],
)
def test_functions_that_need_no_errexit(check: str) -> None:
    base = {**call('fetch "$1"'), "lib/release.sh": FETCH.replace("sha256sum --check a.sum", check)}
    head = {**base, "install.sh": call('until fetch "$1"; do :; done')["install.sh"]}
    assert told(head, base) == []


def test_a_check_that_is_the_last_word_is_the_answer() -> None:
    base = {**call('fetch "$1"'), "lib/release.sh": FETCH.replace("  tar xf a.tgz\n", "")}
    head = {**base, "install.sh": call('until fetch "$1"; do :; done')["install.sh"]}
    assert told(head, base) == []
    calls = 'all() {\n  fetch "$1"\n  unpack\n}\n'
    base = {key: text + (calls if key.startswith("lib") else "") for key, text in base.items()}
    head = {key: text.replace('until fetch "$1"', 'until all "$1"') for key, text in head.items()}
    head["lib/release.sh"] = base["lib/release.sh"]
    base["install.sh"] = base["install.sh"].replace('fetch "$1"', 'all "$1"')
    assert told(head, base) == ["medium until"]


def test_a_script_that_never_ended_on_failure() -> None:
    base = {key: text.replace("set -euo pipefail\n", "") for key, text in call('fetch "$1"').items()}
    head = {**base, "install.sh": base["install.sh"].replace('fetch "$1"', 'until fetch "$1"; do :; done')}
    assert told(head, base) == []


def test_a_comparison_alone_is_low() -> None:
    lib = {"lib/release.sh": 'fetch() {\n  [ -n "$1" ]\n  echo "$1"\n}\n'}
    assert told({**call('fetch "$1" || exit 1'), **lib}, {**call('fetch "$1"'), **lib}) == ["low ||"]


MAKE = "install:\n\tcurl -o a.tgz $(U)\n\tsha256sum -c a.sum\n\ttar xf a.tgz\n"


@pytest.mark.parametrize(
    ("head", "by"),
    [
        (MAKE.replace("\tsha", "\t-sha"), "-"),
        (MAKE.replace("\tsha", "\t@-sha"), "-"),
        (".IGNORE: install\n" + MAKE, ".IGNORE: install"),
        ("MAKEFLAGS += -i\n" + MAKE, "MAKEFLAGS += -i"),
    ],
)
def test_recipes_that_go_on(head: str, by: str) -> None:
    assert told({"Makefile": head}, {"Makefile": MAKE}) == [f"medium {by}"]


@pytest.mark.parametrize(
    "head", [MAKE.replace("\ttar", "\t-tar"), MAKE.replace("\tsha", "\t@sha"), MAKE + "clean:\n\t-rm a\n"]
)
def test_recipes_that_stop(head: str) -> None:
    assert told({"Makefile": head}, {"Makefile": MAKE}) == []


def test_set_e_that_is_gone() -> None:
    head = {key: text.replace("set -euo pipefail\n", "set -u\n") for key, text in call('fetch "$1"').items()}
    assert told(head, call('fetch "$1"')) == ["medium no set -e"]
    assert told(call('fetch "$1"'), head) == []


DIGEST = """digest() {
  awk '{ print $1 }' "$1"
  minisign -Vqm "$1" -p release.pub >&2
}
"""


@pytest.mark.parametrize("word", ["local", "readonly", "export", "declare -r", "typeset"])
def test_a_declaration_that_takes_the_status_of_a_check(word: str) -> None:
    text = "#!/usr/bin/env bash\nset -e\n. lib/release.sh\nwanted=$(digest MANIFEST)\necho $wanted\n"
    base = {"lib/release.sh": DIGEST, "install.sh": text}
    head = {**base, "install.sh": text.replace("wanted=", f"{word} wanted=")}
    assert told(head, base) == [f"medium {word.split(maxsplit=1)[0]} $( )"]
    head = {**base, "install.sh": text.replace("wanted=", f"{word} wanted\nwanted=")}
    assert told(head, base) == []


def test_a_declaration_of_what_verifies_nothing_is_in_order() -> None:
    text = "#!/usr/bin/env bash\nset -e\nfound=$(sha256sum a | cut -c1-64)\n"
    assert told({"a.sh": text.replace("found=", "readonly found=")}, {"a.sh": text}) == []


def test_a_declaration_of_the_check_itself() -> None:
    text = "#!/bin/sh\nset -e\nsaid=$(gpg --verify a.sig a)\n"
    head = {"a.sh": text.replace("said=", "export said=")}
    assert told(head, {"a.sh": text}) == ["medium export $( )"]


TOOL = "tool:\n\tcurl -fsSo a.tgz https://a.example/a.tgz\n\tsha256sum --check a.sum\n\ttar xf a.tgz\n"


@pytest.mark.parametrize(
    ("more", "by"),
    [
        (".ONESHELL:\n", ["medium .ONESHELL"]),
        (".ONESHELL:\n.SHELLFLAGS = -ec\n", []),
        (".ONESHELL:\n.SHELLFLAGS := -eu -o pipefail -c\n", []),
        (".SILENT:\n", []),
    ],
)
def test_recipes_that_become_one_script(more: str, by: list[str]) -> None:
    assert told({"Makefile": more + TOOL}, {"Makefile": TOOL}) == by


def test_the_last_line_of_one_script_counts() -> None:
    check = "check:\n\techo now\n\tsha256sum --check a.sum\n\nnext:\n\techo\n"
    assert told({"Makefile": ".ONESHELL:\n" + check}, {"Makefile": check}) == []


PIPED = "\tcosign verify --key k i:1 | tee v.json\n\tgrype --fail-on high i:1 | tee s.txt\n"
PLAIN = "\tcosign verify --key k i:1\n\tgrype --fail-on high i:1\n"
BASH = "SHELL := bash\n.SHELLFLAGS := -eu -o pipefail -c\n\nverify:\n"
NO_PIPEFAIL = "medium a pipe, and the shell has no pipefail"


@pytest.mark.parametrize(
    ("path", "base", "head", "said"),
    [
        ("Makefile", BASH + PIPED, BASH.replace("-eu -o pipefail -c", "-euc") + PIPED, 2),
        ("Makefile", BASH + PIPED, "SHELL := /bin/sh\n\nverify:\n" + PIPED, 2),
        ("Makefile", "verify:\n" + PLAIN, "verify:\n" + PIPED, 2),
        ("Makefile", "verify:\n" + PIPED, "verify:\n" + PIPED + "\techo\n", 0),
        ("Makefile", BASH + PLAIN, BASH + PIPED, 0),
        ("Makefile", "verify:\n" + PLAIN, "verify:\n" + PLAIN.replace("k i", "'a|b' i"), 0),
        ("Makefile", BASH + "\techo s | sha256sum -c\n", "verify:\n\techo s | sha256sum -c\n", 0),
        (
            "justfile",
            'set shell := ["bash", "-euo", "pipefail", "-c"]\n\nverify:\n    cosign verify i | tee v\n',
            'set shell := ["sh", "-euc"]\n\nverify:\n    cosign verify i | tee v\n',
            1,
        ),
        (
            "Taskfile.yml",
            "version: '3'\nset: [pipefail]\ntasks:\n  verify:\n    cmds:\n      - cosign verify i | tee v\n",
            "version: '3'\ntasks:\n  verify:\n    cmds:\n      - cosign verify i | tee v\n",
            1,
        ),
    ],
)
def test_a_status_that_a_pipe_takes(path: str, base: str, head: str, said: int) -> None:
    assert told({path: head}, {path: base}) == [NO_PIPEFAIL] * said
