"""Files of daemons, units and policy languages: what is weaker at head, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

UNIT = "[Service]\nUser=a\nExecStart=/usr/bin/a\n"
FIRE = "service cloud.firestore {{\n match /users/{{u}} {{\n  allow read: if {};\n }}\n}}\n"
REGO = 'package a\n\ndefault allow := false\n\nallow if {{\n    input.method == "GET"\n    {}\n}}\n'
SERVER = "backend app\n    server a 10.0.0.1:1 check {}\n"


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(
    ("path", "what", "base", "head"),
    [
        (
            "pg_hba.conf",
            "weaker",
            "hostssl all all 10.0.0.0/8 scram-sha-256\n",
            "hostssl all all 10.0.0.0/8 md5\n",
        ),
        ("pg_hba.conf", "weaker", "hostssl all all 10.0.0.0/8 md5\n", "host all all 10.0.0.0/8 md5\n"),
        ("pg_hba.conf", "anybody", "host all all 10.0.0.0/8 md5\n", "host all all 0.0.0.0/0 md5\n"),
        (
            "pg_hba.conf",
            "trusted",
            "host all all 10.0.0.0/8 md5\n",
            "host all all 10.0.0.0/8 md5\nhost all all 192.0.2.0/24 md5\n",
        ),
        ("etc/sshd_config", "weaker", "PermitRootLogin no\n", "PermitRootLogin yes\n"),
        ("etc/sshd_config", "weaker", "PasswordAuthentication no\n", "UsePAM yes\n"),
        ("etc/sshd_config", "authentication", "AllowUsers a\n", "Port 22\n"),
        ("redis.conf", "weaker", "protected-mode yes\n", "protected-mode no\n"),
        ("redis.conf", "anybody", "bind 127.0.0.1\n", "bind 0.0.0.0\n"),
        ("redis.conf", "authentication", "requirepass ${P}\n", "port 1\n"),
        ("postgresql.conf", "weaker", "ssl = on\n", "ssl = off\n"),
        ("my.cnf", "weaker", "[mysqld]\nport=1\n", "[mysqld]\nskip-grant-tables\n"),
        ("haproxy.cfg", "weaker", "frontend f\n http-request deny if a\n", "frontend f\n bind :80\n"),
        ("haproxy.cfg", "weaker", SERVER.format("ssl verify required"), SERVER.format("ssl verify none")),
        ("haproxy.cfg", "weaker", SERVER.format("ssl verify required"), SERVER.format("")),
        ("daemon.json", "trusted", "{}", '{"insecure-registries": ["r.example"]}'),
        ("fluent-bit.conf", "copied-elsewhere", "[OUTPUT]\n Host a.example\n", "[OUTPUT]\n Host b.example\n"),
        ("rsyslog.conf", "copied-elsewhere", "*.* /var/log/a\n", "*.* @@logs.b.example:514\n"),
        ("a.service", "root-by-group", UNIT, UNIT + "SupplementaryGroups=docker\n"),
        ("a.service", "writes-system", UNIT, UNIT + "ReadWritePaths=/etc\n"),
        ("a.service", "from-anybody", UNIT, UNIT + "EnvironmentFile=-/tmp/a.env\n"),
        ("docker.socket", "engine-open", "[Socket]\n", "[Socket]\nListenStream=0.0.0.0:2375\n"),
        ("firestore.rules", "weaker", FIRE.format("a.b == c && d.e == f"), FIRE.format("a.b == c")),
        ("firestore.rules", "weaker", FIRE.format("a.b == c"), FIRE.format("a.b == c || d.e == f")),
        ("authz.rego", "weaker", REGO.format("input.a == input.b"), REGO.format("input.a")),
        ("authz.rego", "weaker", REGO.format("input.a == input.b"), REGO.format("")),
        ("authz.rego", "weaker", "default allow := false\n", "default allow := true\n"),
        ("casbin.csv", "more-rights", "p, member, /orders, GET\n", "p, member, /*, GET\n"),
        ("casbin.csv", "trusted", "g, a, admin\n", "g, a, admin\ng, b, admin\n"),
    ],
)
def test_what_is_weaker_is_told(path: str, what: str, base: str, head: str) -> None:
    assert told(path, base, head) == {what}
    assert told(path, head, head) == set()


def test_a_rule_without_a_condition_is_told_as_such() -> None:
    assert "condition" in told("firestore.rules", FIRE.format("a.b == c"), FIRE.format("true"))


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("pg_hba.conf", "host all all 10.0.0.0/8 md5\n", "hostssl all all 10.0.0.0/8 scram-sha-256\n"),
        (
            "pg_hba.conf",
            "host all all 10.0.0.0/8 md5\n",
            "# x\nhost all all 10.0.0.0/8 md5\nlocal all all peer\n",
        ),
        ("etc/sshd_config", "Port 22\n", "Port 2222\nPermitRootLogin no\n"),
        ("etc/sshd_config", "PermitRootLogin prohibit-password\n", "PermitRootLogin without-password\n"),
        ("redis.conf", "maxmemory 1gb\n", "maxmemory 2gb\n"),
        ("haproxy.cfg", "frontend f\n bind :80\n", "frontend f\n http-request deny if a\n"),
        ("haproxy.cfg", SERVER.format("ssl verify required"), SERVER.format("ssl verify required inter 2s")),
        ("fluent-bit.conf", "[OUTPUT]\n Host a.example\n", "[OUTPUT]\n Host a.example\n Port 1\n"),
        ("fluent-bit.conf", "[INPUT]\n Name a\n", "[INPUT]\n Name a\n[OUTPUT]\n Host es.logging.svc\n"),
        ("a.service", UNIT, UNIT + "EnvironmentFile=/etc/a.env\nReadWritePaths=/var/lib/a\n"),
        ("firestore.rules", FIRE.format("a.b == c"), FIRE.format("a.b == c && d.e == f")),
        ("authz.rego", REGO.format("input.a"), REGO.format("input.a == input.b")),
        ("authz_test.rego", "default allow := false\n", "default allow := true\n"),
        ("casbin.csv", "p, member, /orders, GET\n", "p, member, /orders, GET\np, member, /items, GET\n"),
        ("prices.csv", "p, a, b, c\n", "p, a, b, *\n"),
    ],
)
def test_what_is_as_strong_is_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()


@given(
    st.text(max_size=300),
    st.sampled_from(
        [
            "pg_hba.conf",
            "sshd_config",
            "redis.conf",
            "my.cnf",
            "haproxy.cfg",
            "fluent-bit.conf",
            "rsyslog.conf",
            "firestore.rules",
            "a.rego",
            "casbin.csv",
            "daemon.json",
            ".gitignore",
            "MANIFEST.in",
            "package.json",
        ]
    ),
)
def test_no_text_breaks_a_reader(text: str, path: str) -> None:
    found = read(path, text.encode(), {})
    assert all(fact.line >= 1 for fact in found.facts)
    assert all(width.line >= 1 for width in found.widths)
