"""Archives as lists: members, compiled modules beside their sources, a wheel's own record."""

from __future__ import annotations

import importlib.util
import io
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.supply.packed import Packed, read
from tests.unit.prescreen.scanners.test_packed_archives import pyc, wheel, zipped


@given(data=st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for path in ("a.whl", "a.tar.gz", "a.gem"):
        assert isinstance(read(path, data, {}), Packed)


def test_members_of_a_tar() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as made:
        info = tarfile.TarInfo("./a.js")
        info.size = 1
        made.addfile(info, io.BytesIO(b"1"))
    assert [one.name for one in read("a.tgz", out.getvalue(), {}).members] == ["a.js"]


@pytest.mark.parametrize("flags", [0, 3])
def test_a_module_compiled_from_its_source(flags: int) -> None:
    text = b"def f():\n    return 1\n"
    found = read("a.pyz", zipped({"a.py": text, "a.pyc": pyc(text, flags), "b.pyc": b"x" * 20}), {})
    assert found.compiled == ["a.pyc"]
    assert not found.foreign


@pytest.mark.parametrize(
    "name", ["a.pyc", "__pycache__/a.cpython-311.pyc", "__pycache__/a.cpython-311.opt-1.pyc"]
)
@pytest.mark.parametrize("flags", [0, 1, 3])
def test_a_module_compiled_from_something_else(name: str, flags: int) -> None:
    files = {"a.py": b"def f():\n    return check()\n", name: pyc(b"def f():\n    return True\n", flags)}
    assert read("a.pyz", zipped(files), {}).foreign == [f"{name} was not compiled from a.py"]


def test_a_module_that_is_never_compared() -> None:
    text = b"x = 1\n"
    assert "never" in read("a.zip", zipped({"a.py": text, "a.pyc": pyc(text, 1)}), {}).foreign[0]


def test_two_members_of_one_name() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("a.py", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.py", "2")
    assert "one name" in read("a.zip", out.getvalue(), {}).foreign[0]


def test_a_wheels_record() -> None:
    files = {"p/__init__.py": b"x = 1\n", "p/py.typed": b""}
    assert not read("p-1.0-py3-none-any.whl", wheel("p", "1.0", files), {}).foreign
    other = wheel("p", "1.0", files, instead={"p/__init__.py": b"x = 2\n"})
    assert read("p-1.0-py3-none-any.whl", other, {}).foreign == [
        "p/__init__.py is not the file of the wheel's own list"
    ]
    more = wheel("p", "1.0", files, instead={"p/more.py": b"x = 2\n"})
    assert read("p-1.0-py3-none-any.whl", more, {}).foreign == ["p/more.py is not on the wheel's own list"]


def test_the_magic_is_no_matter() -> None:
    assert pyc(b"", 0)[:4] == importlib.util.MAGIC_NUMBER
