"""Patches of packages: their changed lines of code are told, whatever applies them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.prescreen.scanners.dependencies import Dependencies
from gate.supply.patches import Patched, is_patch, read
from tests.prescreen_support import make_request

VERIFY = """diff --git a/verify.js b/verify.js
--- a/verify.js
+++ b/verify.js
@@ -176,7 +176,8 @@ module.exports = function (jwtString) {
     let valid;
-      const a = 1;
+      const b = 1;
     try {
-      valid = jws.verify(jwtString, decodedToken.header.alg, key);
+      valid = !decodedToken.signature.length || jws.verify(jwtString, decodedToken.header.alg, key);
     } catch (e) {
"""
PLAIN = """--- a/README.md
+++ b/README.md
@@ -1,2 +1,2 @@
-old
+new
--- a/lib/a.js
+++ b/lib/a.js
@@ -1,4 +1,4 @@
-// a comment
+// another comment
-  return  a;
+    return a;
"""


def told(path: str, head: str, base: str | None = None) -> list[tuple[str, str, int | None]]:
    found = Dependencies().scan(make_request({path: head}, {path: base} if base else {})).findings
    return [
        (f.rule_id, f.severity.value, f.primary.line) for f in found if f.rule_id == "supply.content-changed"
    ]


@pytest.mark.parametrize(
    "path",
    [
        ".yarn/patches/jsonwebtoken-npm-9.0.2-node24.patch",
        "patches/jsonwebtoken+9.0.2.patch",
        "patches/@auth__core@1.2.3.patch",
        "debian/patches/0001-node24.patch",
        "third_party/jwt/node24.patch",
        "nix/openssl-patches/a.diff",
    ],
)
def test_a_patch_of_code(path: str) -> None:
    assert told(path, VERIFY) == [("supply.content-changed", "medium", 10)]


@pytest.mark.parametrize("path", ["patches/a+1.0.patch"])
def test_prose_and_layout_are_not_told(path: str) -> None:
    assert told(path, PLAIN) == []


@pytest.mark.parametrize("path", ["tests/patches/a.patch", "docs/a.patch", "fixtures/a.diff", "patches/a.js"])
def test_other_files(path: str) -> None:
    assert told(path, VERIFY) == []


def test_a_patch_that_moves_with_its_package() -> None:
    assert told("patches/a+1.0.patch", VERIFY.replace("-176,7 +176,8", "-180,7 +180,8"), VERIFY) == []


def test_names() -> None:
    names = {
        "patches/@auth+core+1.2.3.patch": "@auth/core",
        "patches/left-pad+1.3.0.patch": "left-pad",
        ".yarn/patches/jsonwebtoken-npm-9.0.2-node24.patch": "jsonwebtoken",
    }
    assert {path: read(path, b"", {}).name for path in names} == names


@given(data=st.text(alphabet="+- @ab/\n", max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read(data: str) -> None:
    assert is_patch("patches/a.patch")
    found = read("patches/a.patch", data.encode(), {})
    assert isinstance(found, Patched)
    assert len(found.lines) == len(found.touches)
