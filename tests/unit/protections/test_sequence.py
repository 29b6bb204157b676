"""Values that were changed and then checked, and are checked and then changed."""

from __future__ import annotations

import pytest

from gate.protections.facts import FileFacts
from gate.protections.generic import reader as generic
from gate.protections.javascript import reader as javascript
from gate.protections.python import reader as python
from gate.protections.sequence.compare import order_losses, other_value_losses


def _facts(path: str, text: str) -> dict[str, FileFacts]:
    readers = {"py": python, "js": javascript, "ts": javascript}
    return {path: readers.get(path.rpartition(".")[2], generic).read(path, text.encode(), {})}


def _told(path: str, base: str, head: str) -> bool:
    return bool([*order_losses(_facts(path, base), _facts(path, head))])


PY = "def show(request, name):\n    {}\n"
GO = "package a\nfunc Show(w http.ResponseWriter, r *http.Request) {{\n {}\n}}\n"
JAVA = "class A {{ void refund(BigDecimal asked, String currency) {{\n {}\n}} }}\n"
JS = "function show(req, res) {{\n {}\n}}\n"
CS = "class A {{ void Show(string name) {{\n {}\n}} }}\n"
PHP = "<?php function show($name) {{\n {}\n}}\n"
RB = "def show(name)\n {}\nend\n"
RS = "fn show(name: &str) -> Result<(), E> {{\n {}\n}}\n"
KT = "fun show(name: String) {{\n {}\n}}\n"

HOSTILE = [
    (
        "a.py",
        PY.format(
            "path = os.path.realpath(name)\n"
            "    if not path.startswith(ROOT):\n"
            "        abort(404)\n"
            "    return open(path)"
        ),
        PY.format(
            "if not name.startswith(ROOT):\n"
            "        abort(404)\n"
            "    path = os.path.realpath(name)\n"
            "    return open(path)"
        ),
    ),
    (
        "a.py",
        PY.format("name = unquote(name)\n    if '..' in name:\n        raise Refused\n    return open(name)"),
        PY.format("if '..' in name:\n        raise Refused\n    name = unquote(name)\n    return open(name)"),
    ),
    (
        "a.py",
        PY.format("total = name.amount * RATE\n    if total > LIMIT:\n        raise Refused\n    pay(total)"),
        PY.format(
            "if name.amount > LIMIT:\n        raise Refused\n    total = name.amount * RATE\n    pay(total)"
        ),
    ),
    (
        "a.py",
        PY.format("host = idna_host(name)\n    check_host(host)\n    return fetch(host)"),
        PY.format("check_host(name)\n    host = idna_host(name)\n    return fetch(host)")
        + "\n\ndef idna_host(name):\n    return name\n",
    ),
    (
        "a.py",
        PY.format(
            "email = name.strip().lower()\n    if email in BLOCKED:\n        raise Refused\n    save(email)"
        ),
        PY.format(
            "if name in BLOCKED:\n        raise Refused\n    email = name.strip().lower()\n    save(email)"
        ),
    ),
    (
        "a.py",
        PY.format(
            "path = realpath(name)\n"
            "    if not path.startswith(ROOT):\n"
            "        abort(404)\n"
            "    return open(path)"
        ),
        PY.format("guard_path(name)\n    path = realpath(name)\n    return open(path)")
        + "\n\ndef guard_path(path):\n    if not path.startswith(ROOT):\n        abort(404)\n",
    ),
    (
        "a.go",
        GO.format(
            'p := path.Clean(r.URL.Path)\nif !public(p) { http.Error(w, "no", 401); return }\nserve(p)'
        ),
        GO.format(
            'p := r.URL.Path\nif !public(p) { http.Error(w, "no", 401); return }\nserve(path.Clean(p))'
        ),
    ),
    (
        "a.go",
        GO.format(
            'p, err := url.PathUnescape(r.URL.Path)\nif strings.Contains(p, "..") { return }\nserve(p)'
        ),
        GO.format(
            'if strings.Contains(r.URL.Path, "..") { return }\n'
            "p, err := url.PathUnescape(r.URL.Path)\n"
            "serve(p)"
        ),
    ),
    (
        "A.java",
        JAVA.format(
            "BigDecimal amount = rates.toEuro(asked, currency);\n"
            "if (amount.compareTo(LIMIT) > 0) { throw new Refused(); }\n"
            "book(amount);"
        ),
        JAVA.format(
            "if (asked.compareTo(LIMIT) > 0) { throw new Refused(); }\n"
            "BigDecimal amount = rates.toEuro(asked, currency);\n"
            "book(amount);"
        ),
    ),
    (
        "a.js",
        JS.format(
            "const p = path.normalize(req.params.name);\n"
            'if (!p.startsWith("/public")) { return res.sendStatus(403); }\n'
            "res.sendFile(p);"
        ),
        JS.format(
            "const p = req.params.name;\n"
            'if (!p.startsWith("/public")) { return res.sendStatus(403); }\n'
            "res.sendFile(path.normalize(p));"
        ),
    ),
    (
        "a.cs",
        CS.format(
            "var p = Path.GetFullPath(name);\nif (!p.StartsWith(Root.DIR)) { throw new Refused(); }\nOpen(p);"
        ),
        CS.format(
            "if (!name.StartsWith(Root.DIR)) { throw new Refused(); }\n"
            "var p = Path.GetFullPath(name);\n"
            "Open(p);"
        ),
    ),
    (
        "a.php",
        PHP.format("$p = realpath($name);\nif (!str_starts_with($p, ROOT)) { abort(403); }\nreadfile($p);"),
        PHP.format(
            "if (!str_starts_with($name, ROOT)) { abort(403); }\n$p = realpath($name);\nreadfile($p);"
        ),
    ),
    (
        "a.rb",
        RB.format("p = File.realpath(name)\n raise Refused unless p.start_with?(ROOT)\n File.read(p)"),
        RB.format("raise Refused unless name.start_with?(ROOT)\n p = File.realpath(name)\n File.read(p)"),
    ),
    (
        "a.rs",
        RS.format(
            "let p = fs::canonicalize(name)?;\nif !p.starts_with(ROOT) { return Err(E::No); }\nread(p)"
        ),
        RS.format(
            "if !name.starts_with(ROOT) { return Err(E::No); }\nlet p = fs::canonicalize(name)?;\nread(p)"
        ),
    ),
    (
        "a.kt",
        KT.format("val p = File(name).canonicalize()\nif (!p.startsWith(ROOT)) { throw Refused() }\nread(p)"),
        KT.format(
            "if (!name.startsWith(ROOT)) { throw Refused() }\nval p = File(name).canonicalize()\nread(p)"
        ),
    ),
]


@pytest.mark.parametrize(("path", "base", "head"), HOSTILE)
def test_it_is_changed_behind_its_check(path: str, base: str, head: str) -> None:
    assert _told(path, base, head)
    assert not _told(path, head, base)
    assert not _told(path, base, base)


ORDINARY = [
    (
        "a.py",
        PY.format(
            "path = realpath(name)\n"
            "    if not path.startswith(ROOT):\n"
            "        abort(404)\n"
            "    return open(path)"
        ),
        PY.format(
            "if not realpath(name).startswith(ROOT):\n        abort(404)\n    return open(realpath(name))"
        ),
    ),
    (
        "a.py",
        PY.format(
            "path = realpath(name)\n"
            "    if not path.startswith(ROOT):\n"
            "        abort(404)\n"
            "    return open(path)"
        ),
        PY.format("path = realpath(name)\n    guard_path(path)\n    return open(path)")
        + "\n\ndef guard_path(path):\n    if not path.startswith(ROOT):\n        abort(404)\n",
    ),
    (
        "a.py",
        PY.format("name = name.strip()\n    if not name:\n        return None\n    return save(name)"),
        PY.format("if not name:\n        return None\n    name = name.strip()\n    return save(name)"),
    ),
    (
        "a.py",
        PY.format(
            "row = load(name)\n    if row.state != 'open':\n        raise Refused\n    return show(row)"
        ),
        PY.format(
            "row = load(name)\n"
            "    if row.state != 'open':\n"
            "        raise Refused\n"
            "    return show(row.total())"
        ),
    ),
    (
        "A.java",
        JAVA.format(
            "BigDecimal amount = rates.toEuro(asked, currency);\n"
            "if (amount.compareTo(LIMIT) > 0) { throw new Refused(); }\n"
            "book(amount);"
        ),
        JAVA.format(
            "BigDecimal euro = rates.toEuro(asked, currency);\n"
            "if (euro.compareTo(LIMIT) > 0) { throw new Refused(); }\n"
            "log(euro); book(euro);"
        ),
    ),
    (
        "a.go",
        GO.format(
            'p := path.Clean(r.URL.Path)\nif !public(p) { http.Error(w, "no", 401); return }\nserve(p)'
        ),
        GO.format(
            'if !public(path.Clean(r.URL.Path)) { http.Error(w, "no", 401); return }\n'
            "serve(path.Clean(r.URL.Path))"
        ),
    ),
]


@pytest.mark.parametrize(("path", "base", "head"), ORDINARY)
def test_it_is_still_changed_first(path: str, base: str, head: str) -> None:
    assert not _told(path, base, head)


OTHER = [
    (
        "a.py",
        "path = realpath(name)\n    if not path.startswith(ROOT):\n        abort(404)\n    return open(path)",
        "path = realpath(name)\n    if not path.startswith(ROOT):\n        abort(404)\n    return open(name)",
    ),
    (
        "a.go",
        "p := path.Clean(r.URL.Path)\nif !public(p) { http.Error(w, no, 401); return }\nserve(p)",
        "p := path.Clean(r.URL.Path)\nif !public(p) { http.Error(w, no, 401); return }\nserve(r.URL.Path)",
    ),
    (
        "a.js",
        "const p = path.normalize(req.path);\nif (!p.startsWith('/a')) { return no(res); }\nres.sendFile(p);",
        (
            "const p = path.normalize(req.path);\n"
            "if (!p.startsWith('/a')) { return no(res); }\nres.sendFile(req.path);"
        ),
    ),
]


@pytest.mark.parametrize(("path", "base", "head"), OTHER)
def test_another_value_is_used_than_checked(path: str, base: str, head: str) -> None:
    form = {"a.py": PY, "a.go": GO, "a.js": JS}[path]
    old, new = _facts(path, form.format(base)), _facts(path, form.format(head))
    assert [*other_value_losses(old, new)]
    assert not [*other_value_losses(new, old)]
    assert not [*other_value_losses(old, old)]


def test_it_moved_behind_the_check_into_another_file() -> None:
    base = _facts("a.go", GO.format("p := path.Clean(r.URL.Path)\nif !public(p) { return }\nnext(w, r)"))
    head = _facts("a.go", GO.format("if !public(r.URL.Path) { return }\nnext(w, r)"))
    found = _facts("b.go", "package a\nfunc find(p string) string { return docs[path.Clean(p)] }")
    assert [*order_losses(base, {**head, **found})]
    assert not [*order_losses(base, head)]  # told by others, where it matters
