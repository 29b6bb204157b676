"""Which JavaScript projects a change is about, and what each needs: the nearest manifest, the lock above."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supply.javascript.packages import MOST_BYTES
from gate.supply.javascript.project import LOCKS, MOST, Files, folders_of, read
from tests.unit.supply.javascript.test_locks import NPM
from tests.unit.supply.python.trees import DictTree

LOCK = json.dumps(NPM)


def files(**texts: object) -> Files:
    """``a__b`` stands for ``a/b``."""
    made = {k: v if isinstance(v, str) else json.dumps(v) for k, v in texts.items()}
    return Files(DictTree(made))


def tree(texts: dict[str, object]) -> Files:
    return files(**texts)


def test_the_nearest_manifest_and_the_lock_above_it() -> None:
    found = tree(
        {
            "package.json": {"workspaces": ["packages/*"]},
            "package-lock.json": LOCK,
            "packages/one/package.json": {"name": "@s/one"},
            "packages/two/package.json": {"name": "@s/two"},
            "docs/readme.md": "",
        }
    )
    changed = ["packages/one/a.ts", "packages/one/b.ts", "packages/two/c.js", "docs/readme.md", "d.py"]
    assert folders_of(changed, found) == {"": ("packages/one", "packages/two")}
    assert folders_of(["docs/readme.md"], found) == {}


def test_a_project_without_a_lock_is_its_own_top() -> None:
    found = tree({"web/package.json": {"dependencies": {"a": "^1"}}})
    assert folders_of(["web/src/x.tsx"], found) == {"web": ("web",)}
    assert read("web", ["web"], found).manifest == {"a": "^1"}


def test_there_are_a_few_projects_at_most() -> None:
    found = tree({f"p{n}/package.json": {} for n in range(9)})
    assert len(folders_of([f"p{n}/x.js" for n in range(9)], found)) == MOST


def test_the_lock_says_versions_and_tools_are_left_out() -> None:
    manifest = {
        "workspaces": ["packages/*"],
        "dependencies": {"a": "^1.0.0"},
        "devDependencies": {"eslint": "1"},
    }
    found = tree({"package.json": manifest, "package-lock.json": LOCK})
    needed = read("", [""], found)
    assert {p.name for p in needed.packages} >= {"a"}
    assert not needed.left
    assert needed.manifest == {}


def test_a_tool_that_a_changed_file_names_is_needed() -> None:
    manifest = {"devDependencies": {"eslint": "8", "eslint-plugin-jest": "27", "prettier": "3", "jest": "29"}}
    texts = {
        "package.json": json.dumps(manifest),
        "eslint.config.js": "const j = require('eslint-plugin-jest');",
    }
    for changed, more in ((["eslint.config.js"], {"eslint-plugin-jest"}), (["package.json"], set())):
        found = Files(DictTree(texts), changed)
        assert read("", [""], found).manifest.keys() == {"jest"} | more


@pytest.mark.parametrize("text", ["{", "[]", '{"lockfileVersion": 3}', "\ufeff{}", "{" * 9_000])
def test_a_lock_that_says_nothing_is_told_and_the_manifest_serves(text: str) -> None:
    found = tree({"package.json": {"dependencies": {"a": "1"}}, "package-lock.json": text})
    needed = read("", [""], found)
    assert needed.manifest == {"a": "1"}
    assert needed.left
    assert needed.left[0].startswith("package-lock.json: the lock: ")


def test_a_lock_that_is_too_large_is_told() -> None:
    found = tree({"package.json": {"dependencies": {"a": "1"}}, "yarn.lock": "#" * (MOST_BYTES + 1)})
    assert read("", [""], found).left == ("yarn.lock: the lock: it cannot be read (too large)",)


def test_what_comes_from_elsewhere_is_not_asked_for() -> None:
    asked = {
        "a": "^1", "b": "file:../b", "c": "git+ssh://h.invalid/c", "d": "workspace:*", "e": "user/repo",
        "f": "npm:@real/f@2", "../x": "1", "jsr": "1",
    }  # fmt: skip
    found = tree(
        {"package.json": {"dependencies": asked, "devDependencies": {"prettier": "3", "vitest": "2"}}}
    )
    assert read("", [""], found).manifest == {"a": "^1", "f": "npm:@real/f@2", "jsr": "1", "vitest": "2"}


@pytest.mark.parametrize(
    ("extra", "member"),
    [
        ({"package.json": {"workspaces": ["packages/*"]}}, True),
        ({"package.json": {"workspaces": {"packages": ["packages/**"]}}}, True),
        ({"package.json": {"workspaces": ["packages/*", "!packages/one"]}}, False),
        ({"package.json": {}, "pnpm-workspace.yaml": 'packages:\n  - "packages/*"\n'}, True),
        ({"package.json": {}, "pnpm-workspace.yaml": "catalog:\n  a: 1\n"}, False),
        ({"package.json": {}}, False),
    ],
)
def test_the_workspaces_own_packages_are_links(extra: dict[str, object], member: bool) -> None:
    root = dict(extra)
    root["packages/one/package.json"] = {"name": "@s/one"}
    root["packages/two/package.json"] = {"name": "@s/two", "dependencies": {"@s/one": "*"}}
    needed = read("", ["packages/two"], tree(root))
    assert (needed.links == (("node_modules/@s/one", "packages/one"),)) is member
    assert ("@s/one" in needed.manifest) is not member


@pytest.mark.parametrize("lock", [name for name in LOCKS if name != "package-lock.json"])
def test_every_kind_of_lock_is_read(lock: str) -> None:
    found = tree({"package.json": {"dependencies": {"a": "1"}}, lock: "{}"})
    needed = read("", [""], found)
    assert needed.manifest == {"a": "1"}
    assert needed.left[0].startswith(f"{lock}: the lock: ")


def test_manifests_of_installed_packages_are_none_of_the_projects() -> None:
    found = tree({"package.json": {}, "node_modules/a/package.json": {"dependencies": {"b": "1"}}})
    assert folders_of(["node_modules/a/x.js"], found) == {"": ("",)}


@given(st.dictionaries(st.sampled_from(["package.json", "package-lock.json", "yarn.lock", "a/package.json",
       "pnpm-workspace.yaml", "pnpm-lock.yaml", "bun.lock"]), st.text(max_size=60), max_size=5))  # fmt: skip
def test_no_text_of_a_tree_raises(texts: dict[str, str]) -> None:
    found = Files(DictTree({path: text.encode("utf-8", "replace").decode() for path, text in texts.items()}))
    for top, folders in folders_of(["a/x.ts", "y.js"], found).items():
        read(top, folders, found)
