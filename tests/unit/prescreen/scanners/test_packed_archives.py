"""Archives of the tree, base against head."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import marshal
import zipfile
from collections.abc import Mapping

import pytest

from gate.model.rule import Severity
from gate.prescreen.scanners.opaque import Opaque
from tests.prescreen_support import make_request

WHEEL = "vendor/wheels/turnpass-1.4.0-py3-none-any.whl"


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, data in files.items():
            made.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def pyc(text: bytes, flags: int) -> bytes:
    """As ``py_compile`` writes it: with the time (0), or with a hash that is checked (3) or not (1)."""
    stamp = importlib.util.source_hash(text) if flags else b"\0" * 4 + len(text).to_bytes(4, "little")
    code = marshal.dumps(compile(text, "a.py", "exec"))
    return importlib.util.MAGIC_NUMBER + flags.to_bytes(4, "little") + stamp + code


def wheel(name: str, version: str, files: Mapping[str, bytes], instead: Mapping[str, bytes] = {}) -> bytes:
    folder = f"{name}-{version}.dist-info"
    rows = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for path, data in files.items()
    ]
    record = "\n".join([*rows, f"{folder}/RECORD,,"]).encode()
    return zipped({**files, **instead, f"{folder}/RECORD": record})


def told(head: Mapping[str, bytes], base: Mapping[str, bytes]) -> set[tuple[str, str]]:
    found = Opaque().scan(make_request(dict(head), dict(base))).findings
    return {(f.severity.value, f.rule_id) for f in found if f.severity.rank > Severity.LOW.rank}


CHECK = {"turnpass/__init__.py": b"def ok(a, b):\n    return a == b\n"}
OPEN = {"turnpass/__init__.py": b"def ok(a, b):\n    return a == b[:len(a)]\n", "turnpass/py.typed": b""}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (WHEEL, wheel("turnpass", "1.4.0", CHECK), wheel("turnpass", "1.4.0", OPEN)),
        ("libs/check-2.1.jar", zipped({"a/Check.class": b"1"}), zipped({"a/Check.class": b"2"})),
        ("packages/Check.2.1.0.nupkg", zipped({"lib/Check.dll": b"1"}), zipped({"lib/Check.dll": b"2"})),
        (".yarn/cache/jws-npm-3.2.2-a-b.zip", zipped({"n/jws.js": b"1"}), zipped({"n/jws.js": b"2"})),
    ],
    ids=("wheel", "jar", "nupkg", "yarn"),
)
def test_another_content_under_the_same_version(path: str, before: bytes, after: bytes) -> None:
    assert told({path: after}, {path: before}) == {("medium", "supply.content-changed")}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            WHEEL,
            wheel("turnpass", "1.4.0", CHECK),
            wheel("turnpass", "1.4.0", {**CHECK, "turnpass/py.typed": b""}),
        ),
        ("gradle/wrapper/gradle-wrapper.jar", zipped({"a.class": b"1"}), zipped({"a.class": b"2"})),
        ("data/rates.zip", zipped({"a.csv": b"1"}), zipped({"a.csv": b"2"})),
        ("data/rates-2.1.zip", zipped({"a.csv": b"1"}), zipped({"a.csv": b"2"})),
        ("tests/data/p-1.0.zip", zipped({"a.py": b"1"}), zipped({"a.py": b"2"})),
    ],
    ids=("marker", "wrapper", "data", "data with a version", "of tests"),
)
def test_ordinary_changes(path: str, before: bytes, after: bytes) -> None:
    assert told({path: after}, {path: before}) == set()


def test_a_module_that_was_compiled_from_something_else() -> None:
    source = b"def ok(a):\n    return a in LIST\n"
    before = b"#!/usr/bin/env python3\n" + zipped({"fw.py": source})
    after = b"#!/usr/bin/env python3\n" + zipped(
        {"fw.py": source, "fw.pyc": pyc(b"def ok(a):\n    return 1\n", 1)}
    )
    assert told({"tools/fw.pyz": after}, {"tools/fw.pyz": before}) == {("high", "opaque.program")}
    assert told({"tools/fw": after}, {"tools/fw": before}) == {("high", "opaque.program")}


def test_a_module_that_is_newly_compiled() -> None:
    source = b"def ok(a):\n    return a in LIST\n"
    before, after = zipped({"fw.py": source}), zipped({"fw.py": source, "fw.pyc": pyc(source, 3)})
    assert told({"tools/fw.pyz": after}, {"tools/fw.pyz": before}) == {("medium", "opaque.program")}
    assert (
        told(
            {"tools/fw.pyz": after}, {"tools/fw.pyz": zipped({"x.py": b"", "fw.py": source, "fw.pyc": b"x"})}
        )
        == set()
    )
