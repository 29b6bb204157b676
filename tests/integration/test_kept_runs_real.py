"""Pushes to a change, in real sandboxes: what a push touches runs again, what it does not is told again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate import api
from gate.model.report import Report
from tests.contract.capabilities import capability
from tests.e2e.pulls import git

BACKENDS = ("bubblewrap", "docker")
HOSTILE = {
    "thread": "import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n",
    "process": "import os\npid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)\n",
    "memory": "open('/proc/meminfo').read()\n",
    "folder": "open('/proc/self/cwd/word.txt').read()\n",
    "descriptor": "import os\nf = os.open('word.txt', 0)\nopen(f'/dev/fd/{f}').read()\n",
    "second name": "import os\nos.symlink('/work/tree', '/tmp/t')\nopen('/tmp/t/word.txt').read()\n",
    "hard link": "import os\nos.link('/work/tree/word.txt', '/work/tree/w2')\nopen('w2').read()\n",
    "network": "import socket\ntry: socket.create_connection(('192.0.2.1', 9), 1)\nexcept OSError: pass\n",
    "secret": "open('/work/home/.aws/credentials').read()\n",
    "variable": "import os\nprint(os.environ['GITHUB_TOKEN'])\n",
}
"""Modules of which nobody can say what they read, or whose runs hold a secret: run again at each push."""


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_CACHE_ENABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("GATE_CACHE", "GATE_CACHE_KEY", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)


class Shop:
    """A repository with a branch that a change is pushed to, bit by bit."""

    def __init__(self, place: Path, backend: str) -> None:
        self.place, self.backend = place, backend
        place.mkdir()
        git(place, "init", "-q", "-b", "main")
        self.push({"word.txt": "one", "pkg/__init__.py": "", "other.txt": "one"})
        git(place, "checkout", "-q", "-b", "head")

    def push(self, files: dict[str, str], message: str = "push") -> None:
        for name, text in files.items():
            (self.place / name).parent.mkdir(exist_ok=True)
            (self.place / name).write_text(text)
        git(self.place, "add", "-A")
        git(self.place, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", message)

    def look(self, **settings: object) -> Report:
        chosen = {"sandbox.backend": self.backend, "sandbox.setup": "none", "sandbox.fast": True}
        return api.check(self.place, "main", "head", chosen | settings)


def told(report: Report) -> dict[str, bool]:
    """Each import at head, by its module: was it told again?"""
    runs = report.sandbox.runs
    assert all(run.fault is None for run in runs)
    return {
        run.probe.target.removeprefix("import pkg."): bool(run.kept_at)
        for run in runs
        if run.side == "head" and run.probe.phase == "import" and not run.repeat
    }


@pytest.fixture(params=BACKENDS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    found = capability(request.param)
    if not found.available:
        pytest.skip(found.reason)
    return Shop(tmp_path / "shop", request.param)


def test_a_push_runs_again_what_it_touches(shop: Shop) -> None:
    shop.push({"pkg/plain.py": "A = 1\n", "pkg/reader.py": "WORD = open('word.txt').read()\n"})
    assert told(shop.look()) == {"plain": False, "reader": False}
    shop.push({"other.txt": "two"})
    assert told(shop.look()) == {"plain": True, "reader": True}
    shop.push({"word.txt": "two"})
    assert told(shop.look()) == {"plain": True, "reader": False}
    shop.push({"pkg/plain.py": "A = 2\n"})
    assert told(shop.look()) == {"plain": False, "reader": True}
    shop.push({"new.txt": "a file more: what lists a folder would see it"})
    assert told(shop.look()) == {"plain": False, "reader": False}
    shop.push({"other.txt": "six"})
    assert told(shop.look(**{"sandbox.memory_mb": 700})) == {"plain": False, "reader": False}
    shop.push({"other.txt": "ten"})
    assert told(shop.look(**{"cache.enabled": False})) == {"plain": False, "reader": False}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_hides_what_it_reads_always_runs(name: str, tmp_path: Path) -> None:
    if not capability("bubblewrap").available:
        pytest.skip(capability("bubblewrap").reason)
    shop = Shop(tmp_path / "shop", "bubblewrap")
    shop.push({"pkg/plain.py": "A = 1\n", "pkg/odd.py": HOSTILE[name]})
    shop.look()
    shop.push({"other.txt": "two"})
    assert told(shop.look()) == {"plain": True, "odd": False}


def test_a_payload_that_a_push_brings_is_seen_though_its_loader_ran_before(tmp_path: Path) -> None:
    if not capability("bubblewrap").available:
        pytest.skip(capability("bubblewrap").reason)
    shop = Shop(tmp_path / "shop", "bubblewrap")
    shop.push({"pkg/plain.py": "exec(open('word.txt').read() and 'A = 1')\n", "word.txt": "pass"})
    quiet = shop.look()
    shop.push({"pkg/plain.py": "exec(open('word.txt').read())\n"})
    before = shop.look()
    shop.push({"word.txt": "import os; os.listdir('/work/home/.ssh'); open('/work/home/.ssh/id_rsa').read()"})
    after = shop.look()
    assert not any("canary" in finding.rule_id for report in (quiet, before) for finding in report.findings)
    assert any("canary" in finding.rule_id for finding in after.findings)


def test_of_an_ais_commit_base_is_told_again_and_head_runs(tmp_path: Path) -> None:
    if not capability("bubblewrap").available:
        pytest.skip(capability("bubblewrap").reason)
    shop = Shop(tmp_path / "shop", "bubblewrap")
    git(shop.place, "checkout", "-q", "main")
    shop.push({"pkg/plain.py": "A = 1\n"})
    git(shop.place, "checkout", "-q", "-B", "head")
    again = []
    for number in (2, 3):
        by = "push\n\nCo-authored-by: Claude <noreply@anthropic.com>"
        shop.push({"pkg/plain.py": f"A = {number}\n"}, by)
        runs = shop.look(**{"sandbox.fast": False}).sandbox.runs
        assert any(run.probe.condition for run in runs)  # looked at twice
        again.append({(run.side, bool(run.kept_at)) for run in runs if run.probe.phase == "import"})
    assert again == [{("base", False), ("head", False)}, {("base", True), ("head", False)}]
