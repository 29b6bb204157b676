"""Automatic set-up's small decisions: dates, reasons, what counts as the same, what is kept and what goes."""

from __future__ import annotations

import datetime
import os
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.sandbox.dependencies import installer, installer_text
from gate.sandbox.dependencies.index import Index
from gate.sandbox.dependencies.install import Means
from gate.sandbox.dependencies.layer_store import FRESH_INCOMPLETE, Layer, LayerStore, Replaced
from gate.sandbox.dependencies.needs import merge, read_needs
from gate.sandbox.dependencies.reasons import NO_WHEEL, reason, transient
from gate.sandbox.dependencies.uv_plan import is_near
from gate.sandbox.dependencies.with_uv import newest_for, within
from gate.sandbox.egress.rules import Allowed
from gate.sandbox.egress.upstream import Upstreams
from gate.supply.python.requirements import Requirements
from tests.unit.supply.python.trees import DictTree

NOW = datetime.datetime(2026, 5, 20, tzinfo=datetime.UTC).timestamp()


def test_the_commits_of_a_week_share_a_date() -> None:
    tuesday = int(datetime.datetime(2024, 10, 22, 9, tzinfo=datetime.UTC).timestamp())
    assert newest_for(tuesday, NOW) == newest_for(tuesday + 4 * 86400, NOW) == "2024-10-28T00:00:00Z"
    assert newest_for(int(NOW), NOW) == ""
    assert newest_for(None, NOW) == newest_for(0, NOW) == newest_for(-5, NOW) == ""


@pytest.mark.parametrize(
    ("deadline", "spent", "left"), [(300, 0, 300), (300, 120, 180), (300, 500, 30), (10, 9, 10)]
)
def test_all_installations_of_a_check_share_one_deadline(deadline: float, spent: float, left: float) -> None:
    means = Means(
        index=Index(url="https://index.example/simple"),
        allowed=Allowed.load(),
        upstream=Upstreams.of({}),
        deadline=deadline,
    )
    assert within(means, spent).deadline == left


@given(st.integers(min_value=1, max_value=4_000_000_000))
def test_a_date_is_after_the_commit_and_not_ahead(committed: int) -> None:
    found = newest_for(committed, NOW)
    if found:
        moment = datetime.datetime.fromisoformat(found).timestamp()
        assert committed < moment < NOW
        assert moment - committed <= 7 * 86400


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "  x No solution found:\n  -> Because indico==3.4 depends on Python>=3.12, we can conclude",
            "it needs Python >=3.12, and the sandbox has 3.11.2",
        ),
        (
            "Because nosuch was not found in the package registry and you require",
            "the index does not have it",
        ),
        (
            "Because there is no version of six==99 and you require six==99",
            "the index does not have that version",
        ),
        ("Because mkautodoc==0.2.0 has no usable wheels and building from source is disabled", NO_WHEEL),
        ("error: Hash mismatch for `six==1.16.0`", "what the index gives is not what its hash names"),
        ("write error: No space left on device (os error 28)", "there is no room for it (sandbox.setup_mb)"),
        ("ERROR: Could not find a version (from versions: none)", "the index does not have it"),
        ("  x Failed to build `uwsgi==2.0`", "it could not be built"),
        ("something else", "something else"),
        ("", "the installer did not say why"),
    ],
)
def test_reasons_in_plain_words(said: str, words: str) -> None:
    assert reason(said, "3.11.2") == words


@given(st.text(max_size=600))
def test_every_reason_is_one_short_line(said: str) -> None:
    assert 0 < len(reason(said, "3.11.2")) <= 300
    assert reason(said, "3.11.2").isprintable()


def test_the_installer_blames_one_line() -> None:
    said = "  x No solution found:\n  -> Because mk-autodoc==0.2.0 has no usable wheels and you require six"
    assert installer_text.blames(said, "mk_autodoc==0.2.0 --hash=sha256:00")
    assert not installer_text.blames(said, "six")
    assert not installer_text.blames("", "six")


def test_of_two_lines_for_a_package_the_exact_one_is_blamed() -> None:
    said = "Because markupsafe==2.0.1 has no usable wheels and you require markupsafe==2.0.1"
    lines = ["markupsafe>=2", "MarkupSafe==2.0.1", "six==1.16.0"]
    assert installer_text.blamed(said, lines) == ["MarkupSafe==2.0.1"]
    assert installer_text.blamed(said, ["markupsafe>=2"]) == ["markupsafe>=2"]
    assert installer_text.blamed("", lines) == []


def test_a_line_with_another_version() -> None:
    line = 'Mark_up[extra]==2.0 ; python_version > "3" --hash=sha256:00'
    assert installer_text.pin_of(line) == "2.0"
    assert installer_text.at_least(line) == 'Mark_up[extra]>=2.0 ; python_version > "3"'
    assert installer_text.with_version("six==1.16.0", "==1.17") == "six==1.17"
    assert [installer_text.pin_of(other) for other in ("six", "six>=1", "six==1.*", "")] == [""] * 4
    assert installer_text.versions("a-b==1.0\n# no\nC_d==2\n") == {"a-b": "1.0", "c-d": "2"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("6.0", "6", True), ("2021.05.30", "2021.5.30", True), ("1.1", "1.10", False), ("1.0b1", "1.0", False)],
)
def test_versions_are_compared_however_written(one: str, other: str, same: bool) -> None:
    assert installer_text.same_version(one, other) is same


@pytest.mark.parametrize(
    ("pinned", "version", "near"),
    [("2.0.1", "2.1.2", True), ("5.4.1", "6.0", False), ("0.17.3", "0.19.1", False), ("0.4", "0.4.2", True)],
)
def test_a_near_version_is_one_of_the_same_promise(pinned: str, version: str, near: bool) -> None:
    assert is_near(pinned, version) is near


def test_a_failed_network_is_no_lasting_reason() -> None:
    said = "error: Failed to fetch: `https://files.example/six.whl`"
    assert transient(said, ["files.example:443: timed out"])
    assert not transient(said, [])  # not allowed: the same tomorrow
    assert not transient("six==1.0 has no usable wheels", ["files.example:443: timed out"])
    assert transient("no time was left", [])


def test_a_build_that_takes_too_long_is_told_once_where_another_version_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["mortar==1.0", "plumb==2.0"]
    plan = {"seconds": 60, "trial": lines, "swaps": [(line, "9", "no wheel") for line in lines]}
    doing = installer.Installer(plan)
    monkeypatch.setattr(doing, "run", lambda *_, **__: installer.NO_TIME)
    doing.try_to_build()
    assert not doing.built
    assert {line: (version, reason(why, "3.11.2")) for line, (version, why) in doing.swaps.items()} == (
        dict.fromkeys(lines, ("9", "it could not be built"))
    )
    assert not any(transient(why, []) for _, why in doing.swaps.values())


def test_an_incomplete_layer_is_looked_at_again_after_a_day(tmp_path: Path) -> None:
    store = LayerStore(tmp_path)
    replaced = Replaced(line="pyyaml==5.4.1 ; x", version="6.0", why="no wheel")
    assert str(replaced) == "pyyaml 6.0 instead of 5.4.1"
    layer = replace(store.find("whole") or Layer(tar=_layer(store, "whole", 9)), replaced=(replaced,))
    store.add_again(layer, "incomplete")
    found = store.find("incomplete")
    assert found is not None
    assert (found.tar, found.replaced) == (layer.tar, (replaced,))
    entry = tmp_path / "incomplete.json"
    old = msgspec.json.decode(entry.read_bytes()) | {"made": time.time() - FRESH_INCOMPLETE - 1}
    entry.write_bytes(msgspec.json.encode(old))
    assert store.find("incomplete") is None
    assert store.find("whole") is not None


def test_projects_locks_are_one_list() -> None:
    one = Requirements(lines=("six==1.16.0", "attrs==1.0"), locked=True, paths=("uv.lock",))
    two = Requirements(lines=("attrs==2.0", "click==8.0"), locked=True, left=("x: y",))
    found = merge([one, two])
    assert found.lines == ("six==1.16.0", "attrs==1.0", "click==8.0")
    assert (found.locked, found.paths, found.left) == (True, ("uv.lock",), ("x: y",))
    mixed = merge([one, Requirements(lines=("flask",), tests=("pytest", "ruff"))])
    assert (mixed.locked, mixed.tests) == (False, ("pytest",))
    assert not merge([])


def test_needs_are_read_once_and_again_when_a_manifest_changes(tmp_path: Path) -> None:
    store = LayerStore(tmp_path)
    files = {"requirements.txt": "six\n", "a.py": ""}
    first = read_needs(DictTree(files), ["a.py"], "3.11.2", store)

    class Unreadable(DictTree):
        def read(self, path: str) -> bytes:
            raise AssertionError(path)

    assert read_needs(Unreadable(files), ["a.py"], "3.11.2", store) == first
    changed = read_needs(DictTree({**files, "requirements.txt": "attrs\n"}), ["a.py"], "3.11.2", store)
    assert changed.merged.lines == ("attrs",)
    for note in tmp_path.glob("*.note"):
        note.write_bytes(b"[1, 2")
    assert read_needs(DictTree(files), ["a.py"], "3.11.2", store) == first


def test_a_version_alone_makes_no_difference(tmp_path: Path) -> None:
    def needs(text: str) -> object:
        return read_needs(
            DictTree({"pyproject.toml": text}), ["a.py"], "3.11.2", LayerStore(tmp_path)
        ).comparison_key

    base = '[project]\nname = "x"\nversion = "1"\n'
    assert needs(base) == needs(base.replace('"1"', '"2"'))
    assert needs(base) != needs(base + '[project.scripts]\nx = "x:main"\n')


def _layer(store: LayerStore, key: str, size: int) -> Path:
    with store.scratch() as room:
        (room / "data").write_bytes(key.encode() * size)
        with tarfile.open(room / "clean.tar", "w") as tar:
            tar.add(room / "data", "data")
        return store.add(room / "clean.tar", Layer(tar=room, lasting=True), key).tar


def test_the_least_recently_used_layers_go_first(tmp_path: Path) -> None:
    store = LayerStore(tmp_path)
    tars = {key: _layer(store, key, 100_000) for key in "abc"}
    for age, key in enumerate("cab"):  # b was used last, c first
        used = tars[key].with_name(f"{tars[key].name}.used")
        os.utime(used, (1_000_000_000 + age, 1_000_000_000 + age))
        os.utime(tars[key], (1_000_000_000, 1_000_000_000))
    store._shrink(250_000)
    assert [tars[key].exists() for key in "abc"] == [True, True, False]
    store._shrink(10)
    assert [tars[key].exists() for key in "abc"] == [False, True, False]  # the newest may be in use
    assert store.find("c") is None


def test_a_lasting_layer_does_not_age(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    store = LayerStore(tmp_path)
    _layer(store, "k", 10)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 300 * 86400)
    found = store.find("k")
    assert found is not None
    assert found.lasting


def test_files_that_the_settings_name_count_besides_what_is_found(tmp_path: Path) -> None:
    tree = DictTree(
        {
            "requirements.txt": "six\n",
            "ci/extra.in": "-r more.txt\ntomlkit>=0.12\n",
            "ci/more.txt": "attrs\n",
            "a.py": "",
        }
    )
    store = LayerStore(tmp_path)
    assert read_needs(tree, ("a.py",), "3.11.2", store).merged.tests == ()
    found = read_needs(tree, ("a.py",), "3.11.2", store, (), ("ci/extra.in", "gone.txt")).merged
    assert (found.lines, found.tests) == (("six",), ("attrs", "tomlkit>=0.12"))
    assert found.left == ("gone.txt: sandbox.setup_files names it, and there is no such file",)
