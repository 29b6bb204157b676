"""Plugins: of an installed package that somebody names, and of nothing else. Driven as its user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gate import plugins
from gate.errors import UsageError
from gate.model.rule import FindingStage
from tests.paths import REPOSITORY

RULES = '''
from gate.extend import Hit, behaviour_rule, python_rule

@python_rule(
    "shop-gate.sleeps", "Sleeps", severity="low", confidence="high", topic="speed", why="Slow.", fix="Queue.",
)
def SLEEPS(module):
    """Calls of time.sleep."""
    for call, _ in module.calls("time.sleep"):
        yield Hit(node=call, message="Sleeps in the shop.")

@behaviour_rule(
    "shop-gate.seen", "Seen", severity="low", confidence="low", topic="seen", why="Seen.", fix="Look.",
)
def SEEN(context):
    """Nothing."""
    return iter(())
'''
PARTS = """
from gate.extend import Prescreened
from gate.model.stage import Stage, StageOutcome

class Lines:
    name = "lines"
    def render(self, report):
        return "".join(f"{f.rule_id} {f.primary.path!a}\\n" for f in report.findings)

class Quiet:
    name = "quiet"
    def scan(self, request):
        stage = Stage(name="prescreen:shop-gate.quiet", outcome=StageOutcome.DONE)
        return Prescreened(findings=(), stages=(stage,))

class Desk:
    name = "desk"
    def tell(self, report, environ):
        return f"put {report.verdict.value} on the desk"

LINES, QUIET, DESK = Lines(), Quiet(), Desk()
"""
ENTRIES = """\
[gate.rules]
sleeps = shop_gate.rules:SLEEPS
seen = shop_gate.rules:SEEN
[gate.scanners]
quiet = shop_gate.parts:QUIET
[gate.reporters]
lines = shop_gate.parts:LINES
[gate.forges]
desk = shop_gate.parts:DESK
"""


def install_plugin(
    folder: Path,
    *,
    name: str = "shop_gate",
    rules: str = RULES,
    entries: str = ENTRIES,
    more: Mapping[str, str] | None = None,
) -> None:
    """What a wheel of the plugin puts into a folder. ``more``: further modules of it."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rules.py").write_text(rules)
    (package / "parts.py").write_text(PARTS)
    for module, text in (more or {}).items():
        (package / module).write_text(text)
    facts = folder / f"{name}-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-gate\nVersion: 1.2\n")
    (facts / "entry_points.txt").write_text(entries)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with gate (this tree's), what gate needs, and the plugin."""
    python, packages = plugin_environment(tmp_path_factory.mktemp("env"))
    install_plugin(packages)
    return python


def plugin_environment(folder: Path) -> tuple[Path, Path]:
    """An environment with this tree's gate: its interpreter, and where its packages lie."""
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "outer.pth").write_text(f"{sysconfig.get_path('purelib')}\n{REPOSITORY}\n")
    return folder / "bin" / "python", packages


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shop(tmp_path)


def shop(tmp_path: Path) -> Path:
    """A repository with a file that is not committed."""
    repo = tmp_path / "shop"
    repo.mkdir()
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example"]
    for words in (["init", "-q", "-b", "main"], [*who, "commit", "-q", "--allow-empty", "-m", "First"]):
        subprocess.run(["git", *words], cwd=repo, check=True)
    (repo / "a.py").write_text("import time\n\ntime.sleep(1)\n")
    return repo


def run_gate(
    python: Path, where: Path, *words: str, named: str = "shop-gate"
) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GATE_", "PYTHON"))}
    env |= {"GATE_PLUGINS": named} if named else {}
    return subprocess.run(
        [str(python), "-m", "gate.cli", *words],
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_everything_that_a_plugin_offers(python: Path, project: Path) -> None:
    looked = ["check", "--worktree", "--no-sandbox", "--json", "r.json", "--as", "shop-gate.lines", "r.lines"]
    done = run_gate(python, project, *looked)
    assert done.returncode == 0, done.stderr
    report = json.loads((project / "r.json").read_text())
    (finding,) = (f for f in report["findings"] if f["rule_id"] == "shop-gate.sleeps")
    assert (finding["line"], finding["message"]) == (3, "Sleeps in the shop.")
    assert report["rules"]["shop-gate.sleeps"]["origin"] == "shop-gate"
    assert "prescreen:shop-gate.quiet" in [stage["name"] for stage in report["stages"]]
    assert report["settings_origin"]["plugins"] == "GATE_PLUGINS (shop-gate 1.2)"
    assert "shop-gate.sleeps 'a.py'\n" in (project / "r.lines").read_text()
    told = run_gate(python, project, "report", "r.json", "--to", "shop-gate.desk")
    assert told.stdout == f"gate: put {report['verdict']} on the desk\n"
    assert "shop-gate.seen" in run_gate(python, project, "rules").stdout
    assert "Slow." in run_gate(python, project, "explain", "shop-gate.sleeps").stdout


def test_nothing_becomes_a_plugin_by_being_installed(python: Path, tmp_path: Path) -> None:
    assert "shop-gate" not in run_gate(python, tmp_path, "rules", named="").stdout


def test_nothing_is_loaded_from_the_working_folder(python: Path, tmp_path: Path) -> None:
    """``python -m gate.cli`` has it on its path, and a tree under test may lie there."""
    mark = tmp_path / "ran"
    trap = f"open({str(mark)!r}, 'w').close()\n"
    install_plugin(tmp_path / "tree", rules=trap)
    (tmp_path / "tree" / "shop_gate" / "__init__.py").write_text(trap)
    done = run_gate(python, tmp_path / "tree", "rules")
    assert done.returncode == 2
    assert "does not lie where shop-gate is installed" in done.stderr
    assert not mark.exists()


def test_a_distribution_of_the_working_folder_is_none(python: Path, tmp_path: Path) -> None:
    install_plugin(tmp_path, name="tree_gate")
    facts = tmp_path / "tree_gate-1.2.dist-info" / "METADATA"
    facts.write_text(facts.read_text().replace("shop-gate", "tree-gate"))
    done = run_gate(python, tmp_path, "rules", named="tree-gate")
    assert done.returncode == 2
    assert "tree-gate, which is not installed beside gate" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "--worktree", "--backend", "shop-gate.vm"], "Valid: auto, microvm"),
        (["check", "--worktree", "--backend", "other.vm"], "Valid: auto, microvm"),
        (["rules"], "is not installed beside gate"),
    ],
)
def test_names_that_are_none(words: list[str], said: str, python: Path, project: Path) -> None:
    done = run_gate(python, project, *words, named="absent" if words == ["rules"] else "shop-gate")
    assert said in done.stderr + done.stdout
    assert done.returncode in (2, 3)


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages of this process, with the plugin in it, and the plugin named."""
    install_plugin(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(plugins, "folders", lambda: (tmp_path,))
    monkeypatch.setenv(plugins.VARIABLE, "Shop_Gate")
    plugins._named.cache_clear()
    yield tmp_path
    plugins._named.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop_gate"]:
        del sys.modules[name]


def test_in_this_process_what_is_named_is_loaded(beside: Path) -> None:
    assert plugins.told() == "shop-gate 1.2"
    assert plugins.names("gate.reporters") == ("shop-gate.lines",)
    assert plugins.names("gate.backends") == ()
    assert [rule.meta.id for rule in plugins.rules(FindingStage.PRESCREEN)] == ["shop-gate.sleeps"]
    assert [rule.meta.origin for rule in plugins.rules(FindingStage.BEHAVIOUR)] == ["shop-gate"]
    assert {*plugins.loaded("gate.forges")} == {"shop-gate.desk"}


def test_what_is_not_there_or_elsewhere_is_refused(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(plugins.VARIABLE, "nothing")
        with pytest.raises(UsageError, match="not installed beside gate"):
            plugins.enabled()
    other = beside / "first"
    (other / "shop_gate").mkdir(parents=True)
    (other / "shop_gate" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(other))
    monkeypatch.setattr(plugins, "folders", lambda: (beside,))
    plugins._named.cache_clear()
    moved = replace(plugins.enabled()[0], folder=beside / "nowhere")
    with pytest.raises(UsageError, match="does not lie where"):
        plugins._value(moved, moved.entries[0])


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("SLEEPS = SEEN = 1\n", "is no rule"),
        ("raise OSError('no disk')\n", r"cannot be imported \(OSError\)"),
        (RULES.replace("shop-gate.sleeps", "py.sleeps"), "does not begin with shop-gate"),
    ],
)
def test_rules_that_are_none_are_refused(beside: Path, rules: str, says: str) -> None:
    (beside / "shop_gate" / "rules.py").write_text(rules)
    with pytest.raises(UsageError, match=says):
        plugins.rules(FindingStage.PRESCREEN)


def test_what_plugins_are_made_of_is_there() -> None:
    from gate import extend

    assert [name for name in extend.__all__ if not hasattr(extend, name)] == []
    assert plugins.folders()
