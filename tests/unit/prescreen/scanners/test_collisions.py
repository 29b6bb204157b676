"""Names of owners: put together with another separator, folded more widely; and what is ordinary."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.collisions import Collisions
from tests.prescreen_support import make_request


def told(path: str, base: str, head: str) -> list[str]:
    found = Collisions().scan(make_request({path: head}, {path: base})).findings
    return [f.evidence.get("folds") or f.evidence["now"] for f in found]


GO = "package a\n\nfunc Key(tenant, bucket string) string {\n\treturn %s\n}\n"
PY = "def key(tenant, name):\n    return %s\n"
JS = "export function key(tenant, name) {\n  return %s;\n}\n"
RB = "def key(tenant, name)\n  %s\nend\n"
PHP = "<?php\nfunction key($tenant, $name) {\n  return %s;\n}\n"
JAVA = "class A { String key(String tenant, String name) {\n  return %s;\n} }\n"
KT = "fun key(tenant: String, name: String): String {\n  return %s\n}\n"
CS = "class A { string Key(string tenant, string name) {\n  return %s;\n} }\n"
RS = "fn key(tenant: &str, name: &str) -> String {\n    %s\n}\n"


@pytest.mark.parametrize(
    ("path", "form", "old", "new"),
    [
        ("a.go", GO, 'tenant + "/" + bucket', 'strings.Join([]string{tenant, bucket}, "-")'),
        ("a.go", GO, 'fmt.Sprintf("%s:%s", tenant, bucket)', 'fmt.Sprintf("%s.%s", tenant, bucket)'),
        ("a.go", GO, 'tenant + "/" + bucket', "tenant + bucket"),
        ("a.py", PY, "f'{tenant}:{name}'", "f'{tenant}_{name}'"),
        ("a.py", PY, "'/'.join((tenant, name))", "'-'.join([tenant, name])"),
        ("a.py", PY, "'%s:%s' % (tenant, name)", "'{}{}'.format(tenant, name)"),
        ("a.py", PY, "tenant + '--' + name", "tenant + '-' + name"),
        ("a.js", JS, "`${tenant}/${name}`", "[tenant, name].join('-')"),
        ("a.ts", JS, "tenant + ':' + name", "`${tenant}${name}`"),
        ("a.rb", RB, '"#{tenant}/#{name}"', '[tenant, name].join("-")'),
        ("a.php", PHP, "$tenant . '/' . $name", 'implode("-", [$tenant, $name])'),
        ("A.java", JAVA, 'tenant + "/" + name', 'String.join("-", tenant, name)'),
        ("a.kt", KT, '"${tenant}/${name}"', 'tenant + "-" + name'),
        ("a.cs", CS, 'tenant + "/" + name', '$"{tenant}-{name}"'),
        ("a.rs", RS, 'format!("{tenant}/{name}")', 'format!("{}-{}", tenant, name)'),
    ],
)  # fmt: skip
def test_a_separator_that_the_parts_may_hold(path: str, form: str, old: str, new: str) -> None:
    base, head = form.replace("%s", old, 1), form.replace("%s", new, 1)
    assert len(told(path, base, head)) == 1
    assert told(path, base, base + "\n") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f'{tenant}:{name}'", "f'{tenant}/{name}'"),  # another one that they may not hold
        ("f'{tenant}-{name}'", "f'{tenant}_{name}'"),  # no worse
        ("f'{tenant}-{name}'", "f'{tenant}:{name}'"),
        ("f'{tenant} {name}'", "f'{tenant}-{name}'"),  # words for people
        ("f'{first}:{name}'", "f'{first}-{name}'"),  # nobody's
        ("f'{tenant}:{name}'", "f'{name}-{tenant}:{day}'"),  # another name altogether
        ("log(f'{tenant}:{name}')", "log(f'{tenant}-{name}')"),
    ],
)
def test_ordinary_separators(old: str, new: str) -> None:
    assert told("a.py", PY % old, PY % new) == []


def test_a_second_name_is_no_change_of_the_first() -> None:
    base = PY % "f'{tenant}:{name}'"
    assert told("a.py", base, base + "\n    short = f'{tenant}-{name}'\n") == []


@pytest.mark.parametrize(
    ("path", "old", "new", "kind"),
    [
        ("address.ts", "function canonical(email: string) {\n  return email.trim();\n}\n",
         "function canonical(email: string) {\n  return email.trim().normalize('NFKC');\n}\n",
         "compatibility"),
        ("users.py", "def find(user):\n    return ALL.get(user.lower())\n",
         "def find(user):\n    return ALL.get(unicodedata.normalize('NFKC', user).lower())\n",
         "compatibility"),
        ("users.py", "def find(user):\n    return ALL.get(user)\n",
         "def find(user):\n    return ALL.get(unidecode(user))\n", "transliteration"),
        ("users.py", "def find(email):\n    return ALL.get(email)\n",
         "def find(email):\n    return ALL.get(email.split('+')[0])\n", "tag"),
        ("users.rb", "def find(login)\n  ALL[login]\nend\n",
         "def find(login)\n  ALL[login.unicode_normalize(:nfkc)]\nend\n", "compatibility"),
        ("users.rb", "def find(login)\n  ALL[login]\nend\n",
         "def find(login)\n  ALL[login.gsub(/[^a-z]/, '')]\nend\n", "removal"),
        ("user.go",
         "package a\n\nfunc Same(user string) string {\n\treturn user\n}\n",
         "package a\n\nfunc Same(user string) string {\n\treturn norm.NFKC.String(user)\n}\n",
         "compatibility"),
        ("A.java", "class A { String key(String email) { return email; } }\n",
         "class A { String key(String email) { return Normalizer.normalize(email, Form.NFKC); } }\n",
         "compatibility"),
        ("a.php", "<?php\nfunction same($email) { return $email; }\n",
         "<?php\nfunction same($email) { return iconv('UTF-8', 'ASCII//TRANSLIT', $email); }\n",
         "transliteration"),
        ("a.cs", "class A { string Key(string host) { return host; } }\n",
         "class A { string Key(string host) { return host.Normalize(NormalizationForm.FormKC); } }\n",
         "compatibility"),
        ("users.py", "def find(email):\n    return one('SELECT 1 FROM u WHERE email = ?')\n",
         "def find(email):\n    return one('SELECT 1 FROM u WHERE unaccent(email) = ?')\n", "collation"),
        ("users.js", "function same(user, other) {\n  return user.localeCompare(other) === 0;\n}\n",
         "function same(user, other) {\n  return user.localeCompare(b, 'en', { sensitivity: 'base' });\n}\n",
         "collation"),
    ],
)  # fmt: skip
def test_names_that_are_folded_more_widely(path: str, old: str, new: str, kind: str) -> None:
    assert told(path, old, new) == [kind]
    assert told(path, new, new + "\n") == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("users.py", "def find(user):\n    return user\n", "def find(user):\n    return user.lower()\n"),
        ("text.py", "def words(body):\n    return body\n", "def words(body):\n    return slugify(body)\n"),
        ("users.py", "def find(user):\n    return user\n",
         "def find(user):\n    return unicodedata.normalize('NFC', user)\n"),
        ("users.py", "X = 1\n", "X = 1\n\n\ndef fold(user):\n    return unidecode(user)\n"),  # new
        ("tests/test_users.py", "def find(user):\n    return user\n",
         "def find(user):\n    return unidecode(user)\n"),
    ],
)  # fmt: skip
def test_ordinary_folding(path: str, old: str, new: str) -> None:
    assert told(path, old, new) == []
