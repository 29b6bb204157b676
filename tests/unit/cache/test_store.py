"""Sealed entries: only what this program wrote with this key, for this trust, is believed."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate.cache import active, store
from gate.cache.store import Store, Trust, entries, kept_folder, open_store
from gate.settings import CacheSettings


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GATE_CACHE", "GATE_CACHE_KEY", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def opened(trust: Trust = "local") -> Store:
    found = open_store(CacheSettings(), trust)
    assert found is not None
    return found


def only_entry(of: Store) -> Path:
    (found,) = [path for path, _ in entries(of.folder)]
    return found


def test_what_was_kept_is_found_again() -> None:
    opened().put("file", b"a", b"content" * 1000)
    assert opened().get("file", b"a") == b"content" * 1000
    assert opened().get("file", b"b") is None
    assert opened().get("check", b"a") is None


def test_levels_of_trust_share_nothing() -> None:
    opened("fork").put("check", b"a", b"green")
    assert opened("local").get("check", b"a") is None
    assert opened("own").get("check", b"a") is None
    moved = only_entry(opened("fork"))  # whoever fills the folder gives it the name that is asked for
    asked = opened("own")._path("check", b"a")
    shutil.copy(moved, asked)
    assert opened("own").get("check", b"a") is None


def test_another_program_shares_nothing() -> None:
    opened().bound_to("one").put("check", b"a", b"green")
    assert opened().bound_to("other").get("check", b"a") is None


@pytest.mark.parametrize("at", [0, 5, 20, 80, 90, -1])
def test_one_changed_byte_breaks_the_seal(at: int) -> None:
    opened().put("check", b"a", b"inconclusive")
    path = only_entry(opened())
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert opened().get("check", b"a") is None


def test_an_entry_under_another_name_is_not_believed() -> None:
    opened().put("check", b"harmless", b"green")
    path = only_entry(opened())
    path.rename(opened()._path("check", b"hostile"))
    assert opened().get("check", b"hostile") is None


def test_a_folder_of_somebody_else_s_making_holds_nothing(tmp_path: Path) -> None:
    """As an attacker with the same program but without the key would fill it."""
    opened().put("check", b"a", b"green")
    (tmp_path / ".local/state/gate/cache.key").unlink()
    assert opened().get("check", b"a") is None


def test_the_key_is_ours_alone_and_lies_outside_of_the_cache(tmp_path: Path) -> None:
    opened()
    key = tmp_path / ".local/state/gate/cache.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert kept_folder() not in key.parents
    assert opened().folder.stat().st_mode & 0o777 == 0o700
    key.chmod(0o644)
    assert open_store(CacheSettings(), "local") is None


def test_a_given_key_goes_between_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_CACHE_KEY", "0123456789abcdef")
    opened().put("check", b"a", b"green")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    assert opened().get("check", b"a") == b"green"
    monkeypatch.setenv("GATE_CACHE_KEY", "another-key-of-16-and-more")
    assert opened().get("check", b"a") is None
    monkeypatch.setenv("GATE_CACHE_KEY", "short")
    assert open_store(CacheSettings(), "local") is None


def test_links_and_pipes_are_no_entries(tmp_path: Path) -> None:
    opened().put("check", b"a", b"green")
    path = only_entry(opened())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert opened().get("check", b"a") is None
    path.unlink()
    os.mkfifo(path)
    assert opened().get("check", b"a") is None


def test_entries_age_by_what_is_sealed_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    opened().put("check", b"a", b"green")
    path = only_entry(opened())
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 8 * 24 * 3600)
    os.utime(path, (now + 8 * 24 * 3600,) * 2)  # as if it had just been written
    assert opened().get("check", b"a") is None
    monkeypatch.setattr(time, "time", lambda: now - 3600)  # made in the future: nobody knows when
    assert opened().get("check", b"a") is None


def test_the_least_recently_used_go_first() -> None:
    small = replace(opened(), most=3000)
    for number in range(5):
        small.put("file", str(number).encode(), os.urandom(1000))
        os.utime(small._path("file", str(number).encode()), (time.time() - 1000 + number,) * 2)
    assert small.get("file", b"0") is not None  # used just now
    small.sweep()
    assert small.get("file", b"0") is not None
    assert small.get("file", b"1") is None
    assert sum(seen.st_size for _, seen in entries(small.folder)) <= 3000


def test_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_ENTRY", 1000)
    opened().put("file", b"a", b"a" * 2000)
    assert entries(opened().folder) == []


def test_an_entry_that_unpacks_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened().put("file", b"a", b"a" * 100_000)
    monkeypatch.setattr(store, "MOST_ENTRY", 10_000)
    assert opened().get("file", b"a") is None


def test_no_place_or_no_wish_is_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_store(CacheSettings(enabled=False), "local") is None
    monkeypatch.delenv("HOME")
    assert open_store(CacheSettings(), "local") is None


def test_checks_that_differ_share_nothing_while_both_go_on() -> None:
    assert active.current() is None
    with active.in_use(opened("own")):
        assert active.current() == opened("own")
        with active.in_use(opened("own")):
            assert active.current() == opened("own")
        with active.in_use(opened("fork")):
            assert active.current() is None
        with active.in_use(None):
            assert active.current() is None
    assert active.current() is None
