"""Orders that mean something and changed; orders that nobody reads."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.ordered import Ordered
from tests.prescreen_support import make_request

Files = dict[str, str]


def told(base: Files, head: Files) -> list[str]:
    found = Ordered().scan(make_request(head, base)).findings
    return [f.evidence.get("member") or f.evidence["was"] for f in found]


ENUMS = [
    ("k.py", "class Role(IntEnum):\n    GUEST = auto()\n%s    ADMIN = auto()\n", "    STAFF = auto()\n",
     {"u.py": "def f(row):\n    return Role(row.role)\n"}, "ADMIN"),
    ("k.go", "package a\n\ntype Role int\n\nconst (\n\tGuest Role = iota\n%s\tAdmin\n)\n", "\tStaff\n",
     {"u.go": 'package a\n\ntype U struct {\n\tR Role `json:"role"`\n}\n'}, "Admin"),
    ("Role.java", "enum Role {\n  GUEST,\n%s  ADMIN\n}\n", "  STAFF,\n",
     {"U.java": "class U { int f(Role r) { return r.ordinal(); } }\n"}, "ADMIN"),
    ("Role.kt", "enum class Role {\n  GUEST,\n%s  ADMIN\n}\n", "  STAFF,\n",
     {"U.kt": "@Enumerated\nval role: Role = Role.GUEST\n"}, "ADMIN"),
    ("Role.cs", "enum Role {\n  Guest,\n%s  Admin\n}\n", "  Staff,\n",
     {"U.cs": "class U { Role F(int n) { return (Role)n; } }\n"}, "Admin"),
    ("role.ts", "export enum Role {\n  Guest,\n%s  Admin,\n}\n", "  Staff,\n",
     {"u.ts": "export const f = (n: number) => n as Role;\n"}, "Admin"),
    ("role.rs", "enum Role {\n    Guest,\n%s    Admin,\n}\n", "    Staff,\n",
     {"u.rs": "fn f() -> u8 {\n    Role::Admin as u8\n}\n"}, "Admin"),
    ("user.rb", "class User\n  enum :role, [:guest, %s:admin]\nend\n", ":staff, ", {}, "admin"),
    ("user.rb", "class User\n  enum role: %%i[guest %sadmin]\nend\n", "staff ", {}, "admin"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "form", "more", "others", "shifted"), ENUMS)
def test_a_member_in_the_middle_of_numbers_that_are_kept(
    path: str, form: str, more: str, others: Files, shifted: str
) -> None:
    base, head = {path: form % ""} | others, {path: form % more} | others
    assert told(base, head) == [shifted]
    assert told(base, base) == []
    if others:
        assert told({path: base[path]}, {path: head[path]}) == []  # nobody keeps the numbers


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A = auto()\n    B = auto()", "A = auto()\n    B = auto()\n    C = auto()"),  # at the end
        ("A = 1\n    B = 2", "A = 1\n    C = 3\n    B = 2"),  # written out
        ("A = 'a'\n    B = 'b'", "C = 'c'\n    A = 'a'\n    B = 'b'"),
        ("A = auto()\n    B = auto()", "C = auto()\n    D = auto()"),  # other names
    ],
)
def test_members_that_keep_their_numbers(old: str, new: str) -> None:
    other = {"u.py": "def f(row):\n    return Role(row.role)\n"}
    form = "class Role(Enum):\n    %s\n"
    assert told({"k.py": form % old} | other, {"k.py": form % new} | other) == []


READERS = [
    ("lib/a.rb", 'PARTIES = File.readlines("data/parties.txt")\nPARTIES.zip(SHARES)\n'),
    ("a.py", 'PARTIES = open("data/parties.txt").read().split()\nfirst, second, third = PARTIES\n'),
    ("a.js", "const parties = readFileSync('data/parties.txt').split('\\n');\npay(parties[1]);\n"),
    ("a.go",
         'package a\n\nvar parties = lines("data/parties.txt")\n\nfunc f(i int) {\n\tpay(parties[i])\n}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), READERS)
def test_lines_of_a_file_that_are_read_by_place(path: str, text: str) -> None:
    base = {path: text, "data/parties.txt": "venue\norganiser\nagency\n"}
    assert told(base, base | {"data/parties.txt": "venue\nagency\norganiser\n"}) == ["organiser"]
    assert told(base, base | {"data/parties.txt": "venue\norganiser\nagency\nfourth\n"}) == []
    other = {"b.py": 'NAMES = set(open("data/parties.txt"))\n'}
    old, new = other | {"data/parties.txt": "a\nb\n"}, other | {"data/parties.txt": "b\na\n"}
    assert told(old, new) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "reader"),
    [
        ("a.py", "PAYEES = ['venue', 'artist']\n", "PAYEES = ['artist', 'venue']\n", "x = PAYEES[0]\n"),
        ("a.js", "export const PAYEES = ['venue', 'artist'];\n",
         "export const PAYEES = ['artist', 'venue'];\n",
         "const [venue, artist] = PAYEES\n"),
        ("a.rb", "PAYEES = %w[venue artist].freeze\n", "PAYEES = %w[artist venue].freeze\n",
         "PAYEES.zip(SHARES)\n"),
        ("a.go", 'package a\n\nvar Payees = []string{"venue", "artist"}\n',
         'package a\n\nvar Payees = []string{"artist", "venue"}\n', "package a\n\nvar v = Payees[0]\n"),
        ("A.java", 'class A { List<String> payees = List.of("venue", "artist"); }\n',
         'class A { List<String> payees = List.of("artist", "venue"); }\n',
         "class B { String v = payees.get(0); }\n"),
        ("a.json", '{"payees": ["venue", "artist"]}\n', '{"payees": ["artist", "venue"]}\n', ""),
        ("a.yaml", "payees: [venue, artist]\n", "payees: [artist, venue]\n", ""),
    ],
)  # fmt: skip
def test_lists_of_programs_and_data(path: str, old: str, new: str, reader: str) -> None:
    name = "b." + (path.rpartition(".")[2] if reader else "py")
    other = {name: reader or "venue = data['x']\npayees = data\nfirst = payees[0]\n"}
    assert told({path: old} | other, {path: new} | other) == ["venue"]
    assert told({path: old}, {path: new}) == []  # nobody takes it by place


@pytest.mark.parametrize(
    ("path", "form", "caller"),
    [
        ("a.py", "def split(x):\n    return %s, %s\n", "venue, artist = split(9)\n"),
        ("a.go", "package a\n\nfunc split(x int) (int, int) {\n\treturn %s, %s\n}\n",
         "package a\n\nfunc f() {\n\tvenue, artist := split(9)\n}\n"),
        ("a.js", "function split(x) {\n  return [%s, %s];\n}\n", "const [venue, artist] = split(9);\n"),
        ("a.rb", "def split(x)\n  return %s, %s\nend\n", "venue, artist = split(9)\n"),
    ],
)  # fmt: skip
def test_what_a_function_gives_back_in_another_order(path: str, form: str, caller: str) -> None:
    other = {"b." + path.rpartition(".")[2]: caller}
    base, head = {path: form % ("venue", "artist")}, {path: form % ("artist", "venue")}
    assert told(base | other, head | other) == ["venue"]
    assert told(base, head) == []


def test_a_value_that_pushes_others_from_their_numbers() -> None:
    other = {"b.py": "pay(PAYEES[1])\n"}
    base = {"a.py": "PAYEES = ['venue', 'artist']\n"} | other
    assert told(base, {"a.py": "PAYEES = ['venue', 'agency', 'artist']\n"} | other) == ["artist"]
    assert told(base, {"a.py": "PAYEES = ['venue', 'artist', 'agency']\n"} | other) == []


def test_columns_that_are_taken_by_number() -> None:
    other = {"b.py": "for row in csv.reader(open('rates.csv')):\n    pay(row[0], row[1])\n"}
    base = {"rates.csv": "payer,payee\na,b\n"} | other
    assert told(base, {"rates.csv": "payee,payer\na,b\n"} | other) == ["payer"]
    named = {"b.py": "for row in csv.DictReader(open('rates.csv')):\n    pay(row['payer'])\n"}
    assert told(base | named, {"rates.csv": "payee,payer\na,b\n"} | named) == []
