"""Which condition implies which: what a check refuses, whatever its spelling."""

from __future__ import annotations

import pytest

from gate.protections.extents import covers, implies


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+'/admin' == path", "+path.startswith('/admin')"),
        ("+'/admin' == path.rstrip('/')", "+request.path.startswith('/adm')"),
        ("+path.startswith('/admin/x')", "+path.startswith('/admin')"),
        ('+host.endsWith(".a.test")', "+host.endsWith('a.test')"),
        ("-host.endsWith('a.test')", "-host.endsWith('.a.test')"),
        ("-host.endsWith('a.test')", "-'a.test' == host"),
        ("+role in {'a', 'b'}", "+role in {'a', 'b', 'c'}"),
        ('+strings.HasPrefix(path, "/a/b")', '+strings.HasPrefix(path, "/a")'),
        ("+'..' in name", "+'.' in name"),
        ("-is_admin", "-is_admin"),
    ],
)
def test_holds_wherever_the_other_holds(one: str, other: str) -> None:
    assert implies(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+path.startswith('/admin')", "+'/admin' == path"),
        ("-host.endsWith('.a.test')", "-host.endsWith('a.test')"),
        ("+'/admin' == path", "-path.startswith('/admin')"),
        ("+'/admin' == name", "+path.startswith('/admin')"),
        ("+path.startswith(prefix)", "+path.startswith('/admin')"),
        ("+path.startswith('/admin')", "+path.endswith('/admin')"),
        ("+is_admin", "+is_staff"),
        ("+'" + "(" * 60, "+x == ''"),
        ("", "+a"),
    ],
)
def test_does_not(one: str, other: str) -> None:
    assert not implies(one, other)


def test_a_set_covers_another_atom_by_atom() -> None:
    assert covers({"+'/a/b' == path", "-admin"}, {"+path.startswith('/a')"})
    assert not covers({"-admin"}, {"-admin", "+path.startswith('/a')"})
