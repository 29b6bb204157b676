"""What a change newly names, each with a twin that is in order."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.named import NamedThings
from tests.prescreen_support import make_request

Files = dict[str, str]
CALLS = {"app/run.py": "def call(where, names):\n    return functools.reduce(getattr, names, where)\n"}


def told(base: Files, head: Files) -> list[str]:
    found = NamedThings().scan(make_request(head, base)).findings
    return sorted({f.rule_id for f in found if f.severity.value == "medium"})


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.json", '[{"op": ["math", "ceil"]}]', '[{"op": ["paths", "os", "system"]}]'),
        ("a.json", '{"op": "x"}', '{"op": ["os.sys", "tem"]}'),
        ("a.yaml", "op: x\n", "op: shutil.rmtree\n"),
        ("a.toml", 'op = "x"\n', 'op = "subprocess:run"\n'),
        ("a.json", "{}", '{"chain": ["child_process", "execSync"]}'),
        ("a.ini", "[a]\nop = x\n", "[a]\nop = __globals__\n"),
    ],
)
def test_functions_in_data(path: str, before: str, after: str) -> None:
    assert told({path: before} | CALLS, {path: after} | CALLS) == ["named.function"]
    assert told({path: before}, {path: after}) == []  # nothing of the project calls what data names


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("c.json", '{"on": []}', '{"on": ["/proc/mounts", "~/.netrc"]}'),
        ("files.txt", "logs/app.log\n", "logs/app.log\n~/.aws/credentials\n"),
        ("a.go", "package a\n", 'package a\nvar F = filepath.Join(home, ".ssh", "id_rsa")\n'),
        ("a.rs", "fn a() {}\n", 'const F: [&str; 1] = ["/root/.git-credentials"];\n'),
        ("release.sh", "#!/bin/sh\n", "#!/bin/sh\ngit ls-files --others --ignored --exclude-standard | up\n"),
        ("a.py", "a = 1\n", 'run(["git", "ls-files", "-oi", "--exclude-standard"])\n'),
        ("a.js", "let a;\n", 'exec("git status --porcelain --ignored");\n'),
        ("Makefile", "a:\n", "a:\n\tgit add -f . && git push\n"),
        ("pack.yaml", "files:\n  - a\n", "files:\n  - a\n  - ~/.docker/config.json\n"),
    ],
)
def test_files_of_credentials(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == ["named.credential-file"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("plan.json", "{}", '{"notes": [".config", "auto", "start", "agent.desktop"]}'),
        ("a.go", "package a\n", 'package a\nvar F = filepath.Join(home, ".config", "autostart", "x")\n'),
        ("A.java", "class A {}\n", 'class A { Path p = Path.of(home, ".git", "hooks", "pre-commit"); }\n'),
        ("tests/conftest.py", "a = 1\n", 'def f(c, up):\n    c.set(f"{up}.vscode/tasks.json", 1)\n'),
        ("Cargo.toml", "[package]\n", '[package.metadata.x]\nwide = ["-c", "core.fsmonitor=.tide/watch"]\n'),
        ("setup.sh", "#!/bin/sh\n", "#!/bin/sh\ngit config --local core.hooksPath .tide\n"),
        ("a.cs", "class A {}\n", 'class A { string p = Path.Combine(home, ".bashrc"); }\n'),
        ("a.rb", "x = 1\n", 'File.write(File.join(Dir.home, ".zshrc"), text)\n'),
    ],
)
def test_places_that_run_later(path: str, before: str, after: str) -> None:
    assert told({path: before}, {path: after}) == ["named.starts-later"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.json", '[{"op": ["math", "ceil"]}]', '[{"op": ["math", "floor"]}]'),
        ("ruff.toml", "[a]\n", '[banned-api]\n"x" = "os.system"\n'),
        ("a.sh", "#!/bin/sh\n", "#!/bin/sh\ngit ls-files --others --exclude-standard\ngit add -A\n"),
        ("c.json", "{}", '{"exclude": ["~/.netrc"]}'),
        (".gitignore", "", ".netrc\n.vscode/tasks.json\n"),
        ("docs/a.py", "a = 1\n", 'a = "~/.netrc"\n'),
        ("README.md", "", "git config core.hooksPath .x\n"),
        ("a.sh", "#!/bin/sh\n", "#!/bin/sh\ngit -c core.pager=cat x\ngit config core.fsmonitor false\n"),
        ("c.json", '{"on": ["~/.netrc"]}', '{"on": [\n"~/.netrc"], "x": 1}'),
        ("tests/test_a.py", "a = 1\n", 'a = "~/.bashrc"\n'),
        ("a.json", "{}", '{"files": ["/etc/hosts"]}'),
    ],
)
def test_what_is_ordinary(path: str, before: str, after: str) -> None:
    assert told({path: before} | CALLS, {path: after} | CALLS) == []


HELD = '"{}": {{"path": "{}.bin", "sha256": "ab"}}'


def test_an_entry_without_a_digest() -> None:
    one, two = HELD.format("a", "a"), HELD.format("b", "b")
    base = {"models.json": f"{{{one}}}"}
    assert told(base, {"models.json": f"{{{one}, {two}}}"}) == []
    loose = '"c": {"path": "c.bin", "as": "pickle"}'
    assert told(base, {"models.json": f"{{{one}, {loose}}}"}) == ["supply.safeguard-removed"]
    lost = '{"a": {"path": "a.bin"}, ' + two + "}"
    assert told(base, {"models.json": lost}) == ["supply.safeguard-removed"]
    more = f'{{{one}, {loose}, "d": {{"path": "d"}}}}'
    assert told({"m.json": f"{{{one}, {loose}}}"}, {"m.json": more}) == []
    rows = "- name: {}\n  url: u\n  checksum: x\n"
    base = {"m.yaml": rows.format("a")}
    assert told(base, {"m.yaml": rows.format("a") + "- name: b\n  url: u\n"}) == ["supply.safeguard-removed"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.js", "return `p${Date.now().toString(36)}.links.example`;"),
        ("a.py", 'name = f"x{uuid.uuid4().hex}.acme.io"'),
        ("a.py", 'name = secrets.token_hex(8) + ".acme.io"'),
        ("a.go", 'n := fmt.Sprintf("p%d.acme.io", time.Now().UnixNano())'),
        ("a.rb", 'n = "#{SecureRandom.hex}.acme.io"'),
    ],
)
def test_names_that_nobody_has(path: str, line: str) -> None:
    assert told({path: ""}, {path: f"{line}\n"}) == ["named.made-up-host"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.js", "return `${tenant}.links.example`;"),
        ("a.py", 'mail = f"{uuid4()}@acme.io"'),
        ("a.py", 'file = f"{uuid4().hex}.tar.gz"'),
        ("a.js", "const f = `${Date.now()}.json`;"),
    ],
)
def test_names_that_somebody_has(path: str, line: str) -> None:
    assert told({path: ""}, {path: f"{line}\n"}) == []
