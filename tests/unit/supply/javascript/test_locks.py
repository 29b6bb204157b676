"""The locks of npm, pnpm, yarn and bun, as these tools write them, and text that is none."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supply.javascript import graph_lock, placed_lock
from gate.supply.javascript.graph_lock import Manifests
from gate.supply.javascript.packages import Packages

HASH = "sha512-" + "A" * 86 + "=="
ADDRESS = "https://registry.npmjs.org/{0}/-/{0}-{1}.tgz"


def entry(name: str, version: str, **more: object) -> dict[str, object]:
    return {"version": version, "resolved": ADDRESS.format(name, version), "integrity": HASH, **more}


def places(found: Packages) -> dict[str, str]:
    return {p.place: f"{p.name}@{p.version}" for p in found.packages}


NPM = {
    "lockfileVersion": 3,
    "packages": {
        "": {"workspaces": ["packages/*"], "dependencies": {"a": "^1.0.0"}, "devDependencies": {"lint": "1"}},
        "packages/one": {
            "name": "@s/one",
            "dependencies": {"b": "2", "@s/two": "*"},
            "devDependencies": {"t": "1"},
        },
        "packages/two": {"name": "@s/two", "dependencies": {"c": "1"}, "devDependencies": {"unneeded": "1"}},
        "node_modules/@s/one": {"resolved": "packages/one", "link": True},
        "node_modules/@s/two": {"resolved": "packages/two", "link": True},
        "node_modules/a": entry("a", "1.0.0", dependencies={"b": "^1"}),
        "node_modules/b": entry("b", "1.0.0"),
        "node_modules/c": entry("c", "1.0.0", optionalDependencies={"c-darwin": "1", "c-linux": "1"}),
        "node_modules/c-darwin": entry("c-darwin", "1.0.0", os=["darwin"], optional=True),
        "node_modules/c-linux": entry("c-linux", "1.0.0", os=["linux"], optional=True),
        "node_modules/lint": entry("lint", "1.0.0"),
        "node_modules/t": entry("t", "1.0.0"),
        "node_modules/unneeded": entry("unneeded", "1.0.0"),
        "packages/one/node_modules/b": entry("b", "2.0.0"),
    },
}


def test_npm_takes_what_the_wanted_folders_reach_and_no_more() -> None:
    found = placed_lock.npm("package-lock.json", json.dumps(NPM), ["packages/one", ""], ["lint"])
    assert places(found) == {
        "node_modules/a": "a@1.0.0",
        "node_modules/b": "b@1.0.0",
        "node_modules/c": "c@1.0.0",
        "node_modules/c-linux": "c-linux@1.0.0",
        "node_modules/t": "t@1.0.0",
        "packages/one/node_modules/b": "b@2.0.0",
    }
    assert found.links == (("node_modules/@s/two", "packages/two"),)
    assert not found.left


def test_a_lock_below_the_root_gives_places_of_the_tree() -> None:
    found = placed_lock.npm("web/package-lock.json", json.dumps(NPM), [""], ["lint"])
    assert places(found) == {"web/node_modules/a": "a@1.0.0", "web/node_modules/b": "b@1.0.0"}


def test_npm_version_one_nests() -> None:
    lock = {
        "lockfileVersion": 1,
        "dependencies": {
            "a": entry(
                "a", "1.0.0", requires={"b": "^2"}, dependencies={"b": entry("b", "2.0.0", requires={})}
            ),
            "b": entry("b", "1.0.0"),
            "other": {
                "version": "npm:real@3.0.0",
                "resolved": ADDRESS.format("real", "3.0.0"),
                "integrity": HASH,
            },
        },
    }
    found = placed_lock.npm("package-lock.json", json.dumps(lock), [""], [])
    assert places(found) == {
        "node_modules/a": "a@1.0.0",
        "node_modules/a/node_modules/b": "b@2.0.0",
        "node_modules/b": "b@1.0.0",
        "node_modules/other": "real@3.0.0",
    }


@pytest.mark.parametrize("version", ["git+ssh://git@host.invalid/a.git#1", "file:../a", "host.invalid/a.tgz"])
def test_what_is_of_no_registry_is_told(version: str) -> None:
    lock = {"packages": {"": {"dependencies": {"a": "*"}}, "node_modules/a": {"version": version}}}
    found = placed_lock.npm("package-lock.json", json.dumps(lock), [""], [])
    assert found.packages == ()
    assert found.left == ("package-lock.json: a: it does not come from a registry",)


@pytest.mark.parametrize("name", ["../../x", "a/../../b", "/etc", "a\0b", ".."])
def test_a_name_that_leaves_node_modules_is_none(name: str) -> None:
    lock = {"packages": {"": {"dependencies": {name: "*"}}, f"node_modules/{name}": entry("a", "1.0.0")}}
    assert placed_lock.npm("package-lock.json", json.dumps(lock), [""], []).packages == ()


BUN = """{
  "lockfileVersion": 1,
  "workspaces": {
    "": { "name": "top", "dependencies": { "a": "^1", }, "devDependencies": { "x,]": "1", }, },
    "packages/one": { "name": "@s/one", "dependencies": { "b": "2", "@s/two": "workspace:*", }, },
    "packages/two": { "name": "@s/two", },
  },
  "packages": {
    "@s/two": ["@s/two@workspace:packages/two"],
    "a": ["a@1.0.0", "", { "dependencies": { "b": "^1", "w": "1" }, "peerDependencies": { "p": "1", "q":
    "1" }, "optionalPeers": ["q"] }, "HASH"], "b": ["b@1.0.0", "", {}, "HASH"],
    "p": ["p@1.0.0", "", {}, "HASH"],
    "q": ["q@1.0.0", "", {}, "HASH"],
    "w": ["w@1.0.0", "", { "os": "none", "cpu": "x64" }, "HASH"],
    "@s/one/b": ["b@2.0.0", "", {}, "HASH"],
  }
}""".replace("HASH", HASH)


def test_bun_with_its_commas_and_nested_names() -> None:
    found = placed_lock.bun("bun.lock", BUN, ["packages/one", ""], [])
    assert places(found) == {
        "node_modules/a": "a@1.0.0",
        "node_modules/b": "b@1.0.0",
        "node_modules/p": "p@1.0.0",
        "packages/one/node_modules/b": "b@2.0.0",
    }
    assert found.links == (("node_modules/@s/two", "packages/two"),)
    assert {p.integrity for p in found.packages} == {HASH}


PNPM = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      a:
        specifier: ^1.0.0
        version: 1.0.0(p@1.0.0)
      alias:
        specifier: npm:b@1
        version: b@1.0.0
    devDependencies:
      lint:
        specifier: '1'
        version: 1.0.0

  packages/one:
    dependencies:
      '@s/two':
        specifier: workspace:*
        version: link:../two
      b:
        specifier: '2'
        version: 2.0.0

  packages/two:
    dependencies:
      c:
        specifier: '1'
        version: 1.0.0

packages:

  a@1.0.0:
    resolution: {integrity: HASH}
    peerDependencies:
      p: '1'

  b@1.0.0:
    resolution: {integrity: HASH}
    deprecated: "read this: it's old, {really}"

  b@2.0.0:
    resolution: {integrity: HASH}

  c@1.0.0:
    resolution: {integrity: HASH}
    cpu: [x64, arm64]
    os: [linux]

  c-musl@1.0.0:
    resolution: {integrity: HASH}
    os: [linux]
    libc: [musl]

  lint@1.0.0:
    resolution: {integrity: HASH}

  p@1.0.0:
    resolution: {integrity: HASH}

  g@https://codeload.host.invalid/o/g/tar.gz/1:
    resolution: {tarball: https://codeload.host.invalid/o/g/tar.gz/1}
    version: 1.0.0

snapshots:

  a@1.0.0(p@1.0.0):
    dependencies:
      b: 1.0.0
      p: 1.0.0

  b@1.0.0: {}

  b@2.0.0: {}

  c@1.0.0:
    optionalDependencies:
      c-musl: 1.0.0

  c-musl@1.0.0:
    optional: true

  lint@1.0.0: {}

  p@1.0.0: {}

  g@https://codeload.host.invalid/o/g/tar.gz/1: {}
""".replace("HASH", HASH)


def test_pnpm_is_laid_out_so_that_each_package_finds_its_own() -> None:
    found = graph_lock.pnpm("pnpm-lock.yaml", PNPM, ["packages/one", ""], ["lint"])
    assert places(found) == {
        "node_modules/a": "a@1.0.0",
        "node_modules/alias": "b@1.0.0",
        "node_modules/b": "b@2.0.0",
        "node_modules/a/node_modules/b": "b@1.0.0",
        "node_modules/c": "c@1.0.0",
        "node_modules/p": "p@1.0.0",
    }
    assert found.links == (("node_modules/@s/two", "packages/two"),)
    assert found.left == (
        "pnpm-lock.yaml: g@https://codeload.host.invalid/o/g/tar.gz/1: it does not come from a registry",
    )


def test_an_older_pnpm() -> None:
    lock = f"""lockfileVersion: '6.0'

dependencies:
  a:
    specifier: ^1
    version: 1.0.0(p@2.0.0)

packages:

  /a@1.0.0(p@2.0.0):
    resolution: {{integrity: {HASH}}}
    dependencies:
      '@s/b': 1.2.3

  /@s/b@1.2.3:
    resolution: {{integrity: {HASH}}}
"""
    found = graph_lock.pnpm("pnpm-lock.yaml", lock, [""], [])
    assert places(found) == {"node_modules/a": "a@1.0.0", "node_modules/@s/b": "@s/b@1.2.3"}


YARN = f"""# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.
# yarn lockfile v1


"@s/b@^1.0.0", "@s/b@^1.2.0":
  version "1.2.3"
  resolved "https://registry.yarnpkg.com/@s/b/-/b-1.2.3.tgz#da39a3ee5e6b4b0d3255bfef95601890afd80709"

a@^1.0.0:
  version "1.0.0"
  resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#da39a3ee5e6b4b0d3255bfef95601890afd80709"
  integrity {HASH}
  dependencies:
    "@s/b" "^1.2.0"

g@o/g:
  version "1.0.0"
  resolved "git+ssh://git@host.invalid/o/g.git#1"
"""


def test_yarn_one() -> None:
    manifests: Manifests = {
        "": {"dependencies": {"a": "^1.0.0"}, "devDependencies": {"@one/lib": "^1"}},
        "lib": {"name": "@one/lib"},
    }
    found = graph_lock.yarn("yarn.lock", YARN, manifests, [""], [])
    assert places(found) == {"node_modules/a": "a@1.0.0", "node_modules/@s/b": "@s/b@1.2.3"}
    assert {p.name: p.integrity for p in found.packages} == {
        "a": HASH,
        "@s/b": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
    }
    assert found.links == (("node_modules/@one/lib", "lib"),)
    assert found.left == ("yarn.lock: g@o/g: it does not come from a registry",)


LATER = """# This file is generated by running "yarn install" inside your project.

__metadata:
  version: 8
  cacheKey: 10c0

"@one/lib@workspace:*, @one/lib@workspace:lib":
  version: 0.0.0-use.local
  resolution: "@one/lib@workspace:lib"
  languageName: unknown
  linkType: soft

"a@npm:^1.0.0, a@npm:^1.1.0":
  version: 1.1.0
  resolution: "a@npm:1.1.0"
  dependencies:
    b: "npm:^2.0.0"
    mac: "npm:1.0.0"
  checksum: 10c0/0123
  languageName: node
  linkType: hard

"b@patch:b@npm%3A^2.0.0#./b.patch":
  version: 2.0.1
  resolution: "b@patch:b@npm%3A2.0.1#./b.patch::version=2.0.1&hash=1"
  languageName: node
  linkType: hard

"b@npm:^2.0.0":
  version: 2.0.1
  resolution: "b@npm:2.0.1"
  languageName: node
  linkType: hard

"mac@npm:1.0.0":
  version: 1.0.0
  resolution: "mac@npm:1.0.0"
  conditions: os=darwin & cpu=arm64
  languageName: node
  linkType: hard
"""


def test_a_later_yarn_whose_hashes_only_the_registry_knows() -> None:
    manifests: Manifests = {
        "": {"dependencies": {"a": "^1.0.0", "@one/lib": "workspace:*"}},
        "lib": {"name": "@one/lib"},
    }
    found = graph_lock.yarn("yarn.lock", LATER, manifests, [""], [])
    assert places(found) == {"node_modules/a": "a@1.1.0", "node_modules/b": "b@2.0.1"}
    assert {p.integrity for p in found.packages} == {""}
    assert found.links == (("node_modules/@one/lib", "lib"),)


READERS: dict[str, Callable[[str], Packages]] = {
    "npm": lambda text: placed_lock.npm("package-lock.json", text, [""], []),
    "bun": lambda text: placed_lock.bun("bun.lock", text, [""], []),
    "pnpm": lambda text: graph_lock.pnpm("pnpm-lock.yaml", text, [""], []),
    "yarn": lambda text: graph_lock.yarn("yarn.lock", text, {"": {"dependencies": {"a": "1"}}}, [""], []),
}
GOOD = {"npm": json.dumps(NPM), "bun": BUN, "pnpm": PNPM, "yarn": YARN}


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"packages": []}', "a: b", "<<<<<<< HEAD"])
@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_lock_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"no lock|Expecting"):
        READERS[kind](text)


@given(st.sampled_from(sorted(READERS)), st.data())
def test_a_damaged_lock_is_refused_or_stays_inside(kind: str, data: st.DataObject) -> None:
    """Whatever is cut out or put in: places are below node_modules, and nothing but ValueError is raised."""
    text = GOOD[kind]
    at = data.draw(st.integers(0, len(text)))
    until = data.draw(st.integers(at, min(len(text), at + 60)))
    put = data.draw(st.text(st.sampled_from("abc/.@\"'{}[],:\n \\0"), max_size=20))
    try:
        found = READERS[kind](text[:at] + put + text[until:])
    except (ValueError, RecursionError):
        return
    for package in found.packages:
        parts = package.place.split("/")
        assert "node_modules" in parts
        assert not {"..", ".", ""} & set(parts)
        assert not package.address or package.address.startswith(("https://", "http://"))
    assert not any(folder.startswith(("/", "..")) for _, folder in found.links)


@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda deeper: st.lists(deeper) | st.dictionaries(st.text(max_size=5), deeper),
    )
)
def test_commas_at_the_end_change_nothing_else(value: object) -> None:
    text = json.dumps(value)
    assert json.loads(placed_lock.without_last_commas(text)) == value
    assert json.loads(placed_lock.without_last_commas(f"[{text} , ]")) == [value]
