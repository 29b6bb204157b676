"""Files under names made up anew in each run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.model.varied import Channel
from gate.tracing.renamed import is_alike, without_renamed


def written(part: str, to: str = "machine") -> Channel:
    return Channel(kind="file", to=to, part=part)


def test_a_link_in_a_folder_of_another_name_is_the_same() -> None:
    head = {written("/tmp/p-vdez80su/link target"): (b"/tmp/p-vdez80su/dir",)}
    base = {written("/tmp/p-0f3k_1ab/link target"): (b"/tmp/p-0f3k_1ab/dir",)}
    assert without_renamed(head, base) == {}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("/tmp/p-0f3k_1ab/link target", b"/tmp/p-0f3k_1ab/other"),
        ("/tmp/p-0f3k_1a/link target", b"/tmp/p-0f3k_1a/dir"),
        ("/tmp/deeper/p-0f3k_1ab/link target", b"/tmp/p-0f3k_1ab/dir"),
        ("/tmp/p-0f3k_1ab/mode", b"/tmp/p-0f3k_1ab/dir"),
    ],
)
def test_what_differs_in_more_than_a_name_stays(part: str, value: bytes) -> None:
    head = {written("/tmp/p-vdez80su/link target"): (b"/tmp/p-vdez80su/dir",)}
    assert without_renamed(head, {written(part): (value,)}) == head


def test_each_file_of_base_stands_for_one() -> None:
    head = {written(f"/tmp/tmp{name}"): (b"x",) for name in ("aaaa", "bbbb")}
    assert len(without_renamed(head, {written("/tmp/tmpcccc"): (b"x",)})) == 1


def test_the_same_name_with_other_content_stays() -> None:
    head = {written("/tmp/tmpaaaa"): (b"y",)}
    assert without_renamed(head, {written("/tmp/tmpaaaa"): (b"x",)}) == head


@given(st.sampled_from(("tree", "home")), st.text("ab/", min_size=1, max_size=6))
def test_files_of_the_tree_and_the_home_stay(to: str, name: str) -> None:
    head = {written("/" + name, to): (b"x",)}
    assert without_renamed(head, {written("/" + name.swapcase(), to): (b"x",)}) == head


def test_a_flood_of_files_is_not_laid_beside_each_other() -> None:
    head = {written(f"/tmp/tmp{number:06}"): (b"x",) for number in range(1000)}
    base = {written(f"/tmp/abc{number:06}"): (b"x",) for number in range(1000)}
    assert without_renamed(head, base) == head


NAMES = Channel(kind="file-name", to="machine")
SED = Channel(kind="argv", to="sed")


def ran(*commands: str, wrote: tuple[str, ...]) -> dict[Channel, tuple[bytes, ...]]:
    values = tuple(command.replace(" ", "\0").encode() for command in commands)
    return {SED: values, NAMES: tuple(name.encode() for name in wrote)}


@pytest.mark.parametrize("before", ["", "--file="])
def test_a_program_that_gets_the_name_of_such_a_file_is_the_same(before: str) -> None:
    head = ran(f"sed -i {before}/tmp/tmpaaaa", "sed x", wrote=("/tmp/tmpaaaa",))
    base = ran(f"sed -i {before}/tmp/tmpbbbb", "sed x", wrote=("/tmp/tmpbbbb",))
    assert without_renamed(head, base) == {NAMES: (b"/tmp/tmpaaaa",)}


@pytest.mark.parametrize(
    ("command", "wrote"),
    [
        ("sed -i /tmp/tmpaaaa", ()),
        ("sed -e /tmp/tmpaaaa", ("/tmp/tmpaaaa",)),
        ("sed -i /tmp/tmpaaaaa", ("/tmp/tmpaaaaa",)),
        ("sed -i /tmp/tmpaaaa/x", ("/tmp/tmpaaaa/x",)),
        ("sed -i @/tmp/tmpaaaa", ("/tmp/tmpaaaa",)),
        ("sed -i /tmp/tmpaaaa more", ("/tmp/tmpaaaa",)),
    ],
)
def test_arguments_that_differ_otherwise_stay(command: str, wrote: tuple[str, ...]) -> None:
    head = ran(command, wrote=wrote)
    assert SED in without_renamed(head, ran("sed -i /tmp/tmpbbbb", wrote=("/tmp/tmpbbbb",)))


def test_one_command_more_is_no_renaming() -> None:
    head = ran("sed /tmp/tmpaaaa", "sed /tmp/tmpaaaa", wrote=("/tmp/tmpaaaa",))
    assert SED in without_renamed(head, ran("sed /tmp/tmpbbbb", wrote=("/tmp/tmpbbbb",)))


def test_names_that_a_program_made_up_make_no_difference() -> None:
    one = ran("sed -i x", wrote=("/tmp/sedaaaaaa", "/tmp/kept"))
    assert is_alike(one, ran("sed -i x", wrote=("/tmp/sedbbbbbb", "/tmp/kept")))
    assert is_alike(one, dict(one))


@pytest.mark.parametrize(
    "other",
    [
        ran("sed -i x", wrote=("/tmp/sedbbbbbbbbbbbbb", "/tmp/kept")),
        ran("sed -i x", wrote=("/tmp/sedbbbbbb",)),
        ran("sed -i x", wrote=("/tmp/a/sedbbb", "/tmp/kept")),
        ran("sed -i y", wrote=("/tmp/sedaaaaaa", "/tmp/kept")),
        {NAMES: (b"/tmp/sedaaaaaa", b"/tmp/kept")},
    ],
)
def test_names_of_another_length_and_anything_else_do(other: dict[Channel, tuple[bytes, ...]]) -> None:
    assert not is_alike(ran("sed -i x", wrote=("/tmp/sedaaaaaa", "/tmp/kept")), other)
