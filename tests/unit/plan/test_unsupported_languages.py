"""Code in languages that no probe runs is named; data and prose are not."""

from __future__ import annotations

from pathlib import Path

from tests.unit.plan.planned import left, planned

CODE = {
    "infra/main.tf": ("resource {}\n", "terraform"),
    "CMakeLists.txt": ("execute_process(COMMAND sh)\n", "cmake"),
    "build.gradle": ("task x {}\n", "gradle"),
    "Jenkinsfile": ("pipeline {}\n", "groovy"),
    "web/index.html": ("<script>fetch(1)</script>\n", "html"),
    "web/app.html": ("<script>\nfetch(1)\n</script>\n", "html"),
    "web/a.svg": ("<svg onload='fetch(1)'/>\n", "html"),
    "x.nix": ("{ }\n", "nix"),
    "infra/x.service": ("[Service]\nExecStart=/bin/sh\n", "systemd"),
    "lib/m.ex": ("defmodule M do\nend\n", "elixir"),
    "main.go": ("package main\n", "go"),
}
DATA = {
    "README.md": "x\n",
    "web/page.html": '<p>x</p><script type="application/ld+json">{}</script>\n',
    "web/b.svg": "<svg/>\n",
    "style.css": "a { }\n",
    "data.xml": "<a/>\n",
    "notes.txt": "x\n",
    "LICENSE": "x\n",
    "data.bin": "x\n",
}


def test_code_that_no_probe_runs_is_named(tmp_path: Path) -> None:
    plan = planned(tmp_path, {path: text for path, (text, _) in CODE.items()} | DATA)
    assert left(plan) == {path: f"no probe runs {language} files" for path, (_, language) in CODE.items()}
