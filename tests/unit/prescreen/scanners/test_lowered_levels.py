"""Older levels and switches, one row of hit and clean for each entry of the table."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import tomllib

import pytest

from gate.prescreen.scanners.lowered_levels import level_findings
from gate.resources import rules_dir
from tests.prescreen_support import make_request

HITS = [
    ("GODEBUG", "main.go", "package main\n", "//go:debug tlsrsakex=1\npackage main\n"),
    ("GODEBUG", "go.mod", "module a\ngo 1.23\n", "module a\ngo 1.23\ngodebug (\n\tx509sha1=1\n)\n"),
    ("GODEBUG", "go.mod", "module a\ngo 1.23\n", "module a\ngo 1.23\ngodebug default=go1.20\n"),
    ("GODEBUG", "Dockerfile", "FROM a\n", "FROM a\nENV GODEBUG=gctrace=1,panicnil=1\n"),
    ("GODEBUG", "deploy/a.yaml", "env: {}\n", "env:\n  GODEBUG: httplaxcontentlength=1\n"),
    ("go language", "Makefile", "a:\n\tgo build .\n", "a:\n\tgo build -gcflags=-lang=go1.20 .\n"),
    ("node", "package.json", '{"scripts": {}}\n', '{"scripts": {"start": "node --insecure-http-parser a.js"}}\n'),
    ("node", "Dockerfile", "FROM a\n", 'FROM a\nENV NODE_OPTIONS="--security-revert=CVE-2023-46809"\n'),
    ("java", "run.sh", "java -jar a\n", "java -Dcom.sun.jndi.ldap.object.trustURLCodebase=true -jar a\n"),
    ("java", "A.java", "class A {}\n", 'class A { { System.setProperty("jdk.internal.httpclient.disableHostnameVerification", "true"); } }\n'),
    (".net", "A.cs", "class A {}\n", 'AppContext.SetSwitch("Switch.System.Net.DontEnableSchUseStrongCrypto", true);\n'),
    (".net", "A.csproj", "<Project/>\n", "<EnableUnsafeBinaryFormatterSerialization>true</EnableUnsafeBinaryFormatterSerialization>\n"),
    ("openssl", "etc/openssl.cnf", "x = 1\n", "Options = UnsafeLegacyRenegotiation\n"),
    ("django", "shop/settings.py", "DEBUG = False\n", "DEBUG = False\nDEFAULT_HASHING_ALGORITHM = 'sha1'\n"),
    ("rails", "config/application.rb", "x\n", "config.action_controller.raise_on_open_redirects = false\n"),
    ("jupyter", "etc/x.json", '{"ServerApp": {}}\n', '{"ServerApp": {\n"allow_origin_pat": "https://a.example"\n}}\n'),
    ("jupyter", "jupyter_server_config.py", "c = 1\n", "c.ServerApp.token = ''\n"),
    ("jupyter", "jupyter_server_config.py", "c = 1\n", "c.ServerApp.disable_check_xsrf = True\n"),
    ("go", "go.mod", "module a\n\ngo 1.22\n", "module a\n\ngo 1.21\n"),
    ("go", "go.work", "go 1.23.4\n", "go 1.18\n"),
    ("go file", "rules.go", "package a\n", "//go:build go1.21\n\npackage a\n"),
    ("rails", "config/application.rb", "config.load_defaults 7.1\n", "config.load_defaults 5.2\n"),
    ("asp.net", "Startup.cs", "CompatibilityVersion.Version_3_0\n", "CompatibilityVersion.Version_2_0\n"),
]  # fmt: skip
LOW = [
    ("typescript", "tsconfig.json", '{"strict": true}\n', '{"strict": false}\n'),
    ("php", "a.php", "<?php\ndeclare(strict_types=1);\n", "<?php\n"),
]  # fmt: skip
CLEAN = [
    ("go.mod", "module a\n\ngo 1.22\n", "module a\n\ngo 1.24\n"),
    ("go.mod", "module a\n\ngo 1.20\n", "module a\n\ngo 1.19\n"),
    ("go.mod", "module a\n\ngo 1.24\n", "module a\n\ngo 1.23\n"),
    ("main.go", "package main\n", "//go:debug gctrace=1\npackage main\n"),
    ("main.go", "package main\n", "//go:debug tlsrsakex=0\npackage main\n"),
    ("main.go", "package main\n", "//go:build !go1.21\npackage main\n"),
    ("Dockerfile", "FROM a\n", "FROM a\nENV GODEBUG=madvdontneed=1\n"),
    ("main.go", "//go:debug panicnil=1\npackage main\n", "//go:debug panicnil=1\npackage main\n\nvar a = 1\n"),
    ("Cargo.toml", 'edition = "2021"\nrust-version = "1.80"\n', 'edition = "2018"\nrust-version = "1.60"\n'),
    ("config/application.rb", "config.load_defaults 7.0\n", "config.load_defaults 7.1\n"),
    ("tsconfig.json", '{"strict": false}\n', '{"strict": true}\n'),
    ("a.json", '{"Server": {}}\n', '{"Server": {"allow_origin": "https://a.example"}}\n'),
    ("jupyter_server_config.py", "c = 1\n", "# c.ServerApp.token = ''\nc.ServerApp.port = 8888\n"),
    ("a.py", "x = 1\n", "from __future__ import annotations\n"),
    ("README.md", "x\n", "GODEBUG=tlsrsakex=1\n"),
]  # fmt: skip


def told(path: str, base: str, head: str) -> list[str]:
    found = [*level_findings(make_request({path: head}, {path: base}), [])]
    return [f"{f.severity.value} {f.shape.partition(f.evidence['set'])[0].strip()}" for f in found]


@pytest.mark.parametrize(("name", "path", "base", "head"), HITS)
def test_what_brings_an_older_behaviour_back(name: str, path: str, base: str, head: str) -> None:
    assert told(path, base, head) == [f"medium {name}"]


@pytest.mark.parametrize(("name", "path", "base", "head"), LOW)
def test_what_only_finds_less(name: str, path: str, base: str, head: str) -> None:
    assert told(path, base, head) == [f"low {name}"]


@pytest.mark.parametrize(("path", "base", "head"), CLEAN)
def test_what_is_in_order(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == []


def test_every_row_of_the_table_has_a_hit() -> None:
    table = tomllib.loads((rules_dir() / "compatibility.toml").read_text("utf-8"))
    assert {row["name"] for rows in table.values() for row in rows} == {name for name, *_ in (*HITS, *LOW)}


def test_what_another_file_of_base_says_is_low() -> None:
    line = "//go:debug tlsrsakex=1\npackage main\n"
    base = {"a.go": line, "b.go": "package main\n"}
    found = [*level_findings(make_request({**base, "b.go": line}, base), [])]
    assert [f.severity.value for f in found] == ["low"]
