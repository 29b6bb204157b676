"""Jobs that publish or ask to deploy install a quarter of the packages: enough, and the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys

from packaging.utils import canonicalize_name

from tests.paths import REPOSITORY

WALK = """
import importlib, importlib.metadata, pkgutil, re, sys

locked = set(sys.argv[1].split())
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
theirs = {}
for top, names in importlib.metadata.packages_distributions().items():
    theirs[top] = {plain(name) for name in names}

class Absent:
    def find_spec(self, name, path=None, target=None):
        owners = theirs.get(name.partition(".")[0], set())
        if owners and not owners & (locked | {"gate-ci", "pip", "setuptools"}):
            raise ModuleNotFoundError(f"not in the lock: {name}", name=name)

sys.meta_path.insert(0, Absent())

def walk(name):
    module = importlib.import_module(name)
    for item in pkgutil.iter_modules(module.__path__):
        full = f"{name}.{item.name}"
        walk(full) if item.ispkg else importlib.import_module(full)

for room in ("gate.github", "gate.policy", "gate.report", "gate.attribution"):
    walk(room)
import gate.verbs.action
import gate.deploy.action_step
print("imported")
"""


def _locked(name: str) -> dict[str, frozenset[str]]:
    """Version and hashes by package."""
    text = re.sub(r"^#.*\n", "", (REPOSITORY / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries: dict[str, frozenset[str]] = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        package, _, rest = entry.partition("==")
        hashes = re.findall(r"sha256:[0-9a-f]{64}", rest)
        assert hashes, entry[:80]
        entries[str(canonicalize_name(package))] = frozenset([re.split(r"[ ;]", rest)[0], *hashes])
    return entries


def test_it_is_a_part_of_the_whole_lock_with_the_same_hashes() -> None:
    thin, whole = _locked("requirements-publish.txt"), _locked("requirements-image.txt")
    assert thin.items() <= whole.items()
    assert len(thin) <= len(whole) / 3


def test_publishing_imports_nothing_else() -> None:
    words = " ".join(_locked("requirements-publish.txt"))
    done = subprocess.run(
        [sys.executable, "-c", WALK, words], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    assert done.stdout.strip() == "imported", done.stderr


def test_what_is_not_in_the_lock_would_be_noticed() -> None:
    less = set(_locked("requirements-publish.txt")) - {"msgspec"}
    done = subprocess.run(
        [sys.executable, "-c", WALK, " ".join(less)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert "not in the lock: msgspec" in done.stderr


def test_the_action_installs_it_where_no_code_is_looked_at() -> None:
    script = (REPOSITORY / "scripts" / "install-action.sh").read_text(encoding="utf-8")
    assert script.count("requirements-publish.txt") == 1
    assert "publish | deploy) lock=requirements-publish.txt" in script
