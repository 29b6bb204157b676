"""Values of settings, base against head: who is trusted, how wide a right is, how strong a check."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read
from gate.infrastructure.settings import words_of
from gate.infrastructure.widths import covers

WEBHOOK: Final = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{ name: images }}
webhooks:
- {{ name: images.shop.example, failurePolicy: {}{} }}
"""
STATEMENT: Final = (
    'resource "aws_iam_role_policy" "p" {{\n  policy = jsonencode({{ Statement = [{}] }})\n}}\n'
)
BUCKET: Final = 'resource "aws_s3_bucket" "b" {{\n  {}\n}}\n'
DOCUMENT: Final = """
data "aws_iam_policy_document" "ci" {{
  statement {{
    actions = ["sts:AssumeRoleWithWebIdentity"]
    {}
  }}
}}
"""
CONDITION: Final = 'condition {{\n test = "{}"\n variable = "token.host:sub"\n values = ["{}"]\n }}'
POLICY: Final = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{ name: db }}
spec:
  policyTypes: [Ingress]
  ingress: {}
"""
ROLE: Final = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{ name: shop }}
rules:
- {{ apiGroups: [""], resources: {}, verbs: {} }}
"""
APPLICATION: Final = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{ name: shop }}
spec: {{ project: {}, source: {{ repoURL: "https://git.example/x", targetRevision: {} }} }}
"""


def allow(action: str, resource: str, more: str = "") -> str:
    return STATEMENT.format(f'{{ Effect = "Allow", Action = {action}, Resource = "{resource}" {more} }}')


def conditioned(operator: str, value: str) -> str:
    return DOCUMENT.format(CONDITION.format(operator, value))


def nginx(*lines: str) -> str:
    return "server {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


NAMESPACE: Final = """
apiVersion: v1
kind: Namespace
metadata: {{ name: shop, labels: {{ {}: {} }} }}
"""
ENFORCE: Final = "pod-security.kubernetes.io/enforce"

WIDER: Final = (
    ("s.yaml", "trusted", "overrides: {admins: ada}\n", "overrides: {admins: eve}\n"),
    (
        "n.yaml",
        "weaker",
        NAMESPACE.format(ENFORCE, "restricted"),
        NAMESPACE.format(ENFORCE, "privileged"),
    ),
    ("n.yaml", "weaker", NAMESPACE.format(ENFORCE, "baseline"), NAMESPACE.format("team", "orders")),
    ("w.yaml", "weaker", WEBHOOK.format("Fail", ""), WEBHOOK.format("Ignore", "")),
    (
        "w.yaml",
        "weaker",
        WEBHOOK.format("Fail", ""),
        WEBHOOK.format("Fail", ", objectSelector: {matchExpressions: [{key: skip, operator: DoesNotExist}]}"),
    ),
    ("p.json", "weaker", '{"approvers": 2}', '{"approvers": 1}'),
    ("p.json", "covered", '{"mfa_required_for": ["admin", "clerk"]}', '{"mfa_required_for": ["admin"]}'),
    ("p.json", "weaker", '{"own_approval": false}', '{"own_approval": true}'),
    ("p.json", "weaker", '{"lock_minutes": 15}', '{"lock_minutes": 0}'),
    ("a.yaml", "allowed", "allow: ['git status']\n", "allow: ['git *']\n"),
    ("s.tf", "weaker", BUCKET.format("force_destroy = false"), BUCKET.format("force_destroy = true")),
    (
        "ami.tf",
        "trusted",
        'data "aws_ami" "a" {\n owners = ["1111"]\n}\n',
        'data "aws_ami" "a" {\n owners = ["2222"]\n}\n',
    ),
    (
        "a.tf",
        "more-rights",
        allow('["s3:PutObject"]', "arn:b/*"),
        allow('["s3:PutObject", "iam:PassRole"]', "arn:b/*"),
    ),
    ("a.tf", "more-rights", allow('"s3:PutObject"', "arn:b/*"), allow('"s3:PutObject"', "*")),
    ("a.tf", "trusted", conditioned("StringEquals", "repo:a/b:main"), conditioned("StringLike", "repo:a*")),
    ("a.tf", "condition", conditioned("StringEquals", "repo:a/b:main"), DOCUMENT.format("")),
    (
        "a.tf",
        "trusted",
        allow('"sts:X"', "a", ', Principal = { AWS = "111" }'),
        allow('"sts:X"', "a", ', Principal = { AWS = "222" }'),
    ),
    (
        "a.tf",
        "weaker",
        'resource "aws_db_instance" "d" {\n backup_retention_period = 7\n}\n',
        'resource "aws_db_instance" "d" {\n backup_retention_period = 0\n}\n',
    ),
    (
        "a.tf",
        "weaker",
        'resource "x" "d" {\n minimum_tls_version = "1.2"\n}\n',
        'resource "x" "d" {\n minimum_tls_version = "1.0"\n}\n',
    ),
    (
        "a.tf",
        "secret",
        'output "p" {\n value = x.y\n sensitive = true\n}\n',
        'output "p" {\n value = x.y\n}\n',
    ),
    (
        "a.tf",
        "secret-shown",
        'output "p" {\n value = x.y\n}\n',
        'output "p" {\n value = nonsensitive(x.y)\n}\n',
    ),
    (
        "prod.tfvars",
        "anybody",
        'allowed_cidr_blocks = ["10.0.0.0/8"]\n',
        'allowed_cidr_blocks = ["0.0.0.0/0"]\n',
    ),
    ("prod.tfvars", "switched-on", "deletion_protection = true\n", "deletion_protection = false\n"),
    ("p.yaml", "anybody", POLICY.format("[{from: [{podSelector: {app: a}}]}]"), POLICY.format("[{}]")),
    (
        "p.yaml",
        "trusted",
        POLICY.format("[{from: [{podSelector: {app: a}}]}]"),
        POLICY.format("[{from: [{ipBlock: {cidr: 198.51.100.0/24}}]}]"),
    ),
    ("r.yaml", "more-rights", ROLE.format("[pods]", "[get]"), ROLE.format("[pods, secrets]", "[get]")),
    ("r.yaml", "more-rights", ROLE.format("[pods]", "[get]"), ROLE.format("[pods]", "['*']")),
    (
        "app.yaml",
        "weaker",
        APPLICATION.format("shop", "v1.2.0"),
        APPLICATION.format("shop", "refs/pull/7/head"),
    ),
    ("app.yaml", "weaker", APPLICATION.format("shop", "v1.2.0"), APPLICATION.format("default", "v1.2.0")),
    (
        "v.yaml",
        "anybody",
        "a: {whitelist-source-range: 10.0.0.0/8}\n",
        "a: {whitelist-source-range: 0.0.0.0/0}\n",
    ),
    (
        "s.json",
        "trusted",
        '{"clients": [{"id": "a", "redirect_uris": ["https://a"]}]}',
        '{"clients": [{"id": "a", "redirect_uris": ["https://a", "https://b"]}]}',
    ),
    (
        "s.toml",
        "trusted",
        'allowed_origins = ["https://a"]\n',
        'allowed_origins = ["https://a", "https://b"]\n',
    ),
    ("s.toml", "weaker", 'sslmode = "verify-full"\n', 'sslmode = "prefer"\n'),
    (
        "s.yaml",
        "weaker",
        "db: postgresql+psycopg://a@db/x?sslmode=verify-full\n",
        "db: postgresql+psycopg://a@db/x?sslmode=require&connect_timeout=5\n",
    ),
    ("s.yaml", "weaker", "db: postgres://a@db/x?sslmode=require\n", "db: postgres://a@db/x\n"),
    (
        "s.yaml",
        "weaker",
        "queue: rediss://q:6380/0?ssl_cert_reqs=required\n",
        "queue: rediss://q:6380/0?ssl_cert_reqs=none\n",
    ),
    ("s.yaml", "weaker", "password: {min_length: 12}\n", "password: {min_length: 4}\n"),
    ("s.yaml", "weaker", "login: {rate_limit: 5}\n", "login: {rate_limit: 5000}\n"),
    ("s.yaml", "weaker", "login: {rate_limit: 5}\n", "login: {rate_limit: 0}\n"),
    (".sops.yaml", "trusted", "creation_rules:\n- age: age1a\n", "creation_rules:\n- age: age1a,age1b\n"),
    ("allowed_signers", "trusted", "a ssh-ed25519 AAAA\n", "a ssh-ed25519 AAAA\na ssh-ed25519 BBBB\n"),
    (
        "jwks.json",
        "trusted",
        '{"keys": [{"kty": "OKP", "x": "a"}]}',
        '{"keys": [{"kty": "OKP", "x": "a"}, {"kty": "OKP", "x": "b"}]}',
    ),
    (
        "settings.yml",
        "trusted",
        "collaborators: []\n",
        "collaborators:\n- username: a\n  permission: admin\n",
    ),
    ("settings.yml", "switched-on", "b: {required_reviews: {count: 2}}\n", "b: {required_reviews: null}\n"),
    (
        "c.yaml",
        "sent-elsewhere",
        "services: {a: {image: x}}\n",
        "services: {a: {image: x, extra_hosts: ['api.example:203.0.113.9']}}\n",
    ),
    (
        "nginx.conf",
        "alias-open",
        "server {\n location /s/ {\n  alias /srv/s/;\n }\n}\n",
        "server {\n location /s {\n  alias /srv/s/;\n }\n}\n",
    ),
    ("nginx.conf", "log-in-optional", nginx("auth_request /c"), nginx("auth_request /c", "satisfy any")),
    ("nginx.conf", "weaker", nginx("ssl_verify_client on"), nginx("ssl_verify_client optional")),
    (
        "nginx.conf",
        "weaker",
        nginx("limit_req_zone $a zone=l:1m rate=5r/m"),
        nginx("limit_req_zone $a zone=l:1m rate=100r/s"),
    ),
    (
        "nginx.conf",
        "weaker",
        nginx('add_header Strict-Transport-Security "max-age=31536000"'),
        nginx('add_header Strict-Transport-Security "max-age=0"'),
    ),
    (
        "nginx.conf",
        "trusted",
        nginx("add_header Content-Security-Policy \"default-src 'self'\""),
        nginx("add_header Content-Security-Policy \"default-src 'self' https://b.example\""),
    ),
    (
        "nginx.conf",
        "anybody",
        nginx("add_header Content-Security-Policy \"script-src 'self'\""),
        nginx('add_header Content-Security-Policy "script-src *"'),
    ),
    (
        "nginx.conf",
        "secret-logged",
        nginx("log_format m '$request'"),
        nginx("log_format m '$request $http_cookie'"),
    ),
    (
        "nginx.conf",
        "secret-logged",
        nginx("log_format m '$request'"),
        nginx(
            "log_format m '$request $v'; map $cookie_sid $v { default ''; '~^(?<h>.{1,40})' $h; } listen 80"
        ),
    ),
    (
        "nginx.conf",
        "secret-logged",
        nginx("log_format m '$request'"),
        nginx("set $v $http_authorization; set $w a-$v; log_format m '$request $w'"),
    ),
    (
        "nginx.conf",
        "secret-logged",
        nginx("log_format m '$request'"),
        nginx("if ($http_cookie ~ 'sid=(?<v>[^;]+)') { return 200; } log_format m '$request $v'"),
    ),
    ("nginx.conf", "copied-elsewhere", nginx("listen 80"), nginx("mirror /copy")),
    (
        "nginx.conf",
        "copied-elsewhere",
        nginx("listen 80"),
        nginx("access_log syslog:server=logs.b.example:514 m"),
    ),
)
ALIKE: Final = (
    (
        "nginx.conf",
        nginx("log_format m '$request'"),
        nginx("log_format m '$request $v'; map $cookie_sid $v { default member; '' visitor; } listen 80"),
    ),
    ("nginx.conf", nginx("log_format m '$request'"), nginx("set $v $uri; log_format m '$request $v'")),
    ("p.json", '{"approvers": 1}', '{"approvers": 2}'),
    ("p.json", '{"mfa_required_for": ["admin"]}', '{"mfa_required_for": ["admin", "clerk"]}'),
    ("a.yaml", "allow: ['git status']\n", "allow: ['git status', 'git log']\n"),
    ("w.yaml", WEBHOOK.format("Ignore", ""), WEBHOOK.format("Fail", "")),
    ("a.tf", allow('"s3:GetObject"', "arn:b/*"), allow('["s3:GetObject", "s3:PutObject"]', "arn:b/*")),
    ("a.tf", allow('"s3:*"', "arn:b/*"), allow('"s3:*"', "arn:b/c/*")),
    ("a.tf", conditioned("StringLike", "repo:a*"), conditioned("StringEquals", "repo:a/b:main")),
    ("a.tf", "owners = x\n", "owners = y\n"),
    (
        "a.tf",
        allow('"sts:X"', "a", ', Principal = { AWS = "1" }'),
        allow('"sts:X"', "a", ", Principal = { AWS = aws_iam_role.b.arn }"),
    ),
    (
        "a.tf",
        'resource "aws_db_instance" "d" {\n backup_retention_period = 7\n}\n',
        'resource "aws_db_instance" "d" {\n backup_retention_period = 14\n}\n',
    ),
    ("prod.tfvars", 'allowed_cidr_blocks = ["10.0.0.0/8"]\n', 'allowed_cidr_blocks = ["10.1.0.0/16"]\n'),
    ("prod.tfvars", 'instance_type = "a"\n', 'instance_type = "b"\n'),
    ("r.yaml", ROLE.format("[pods]", "[get]"), ROLE.format("[pods, services]", "[get, list]")),
    ("app.yaml", APPLICATION.format("shop", "v1.2.0"), APPLICATION.format("shop", "v1.3.0")),
    ("s.yaml", "a: {roles: [x]}\nname: a\n", "a: {roles: [x, y]}\nname: b\n"),
    ("s.yaml", "login: {rate_limit: 50}\n", "login: {rate_limit: 80}\n"),
    ("s.yaml", "mode: none\n", "mode: strict\n"),
    ("s.toml", 'scopes = ["a"]\n', 'scopes = ["a", "b"]\n'),
    ("s.toml", 'sslmode = "prefer"\n', 'sslmode = "verify-full"\n'),
    (
        "s.yaml",
        "db: postgres://a@db/x?sslmode=verify-full\n",
        "db: postgres://a@other/x?connect_timeout=5&sslmode=verify-full\n",
    ),
    ("s.yaml", "db: postgres://a@db/x\n", "db: postgres://a@db/x?sslmode=verify-ca\n"),
    ("s.yaml", "page: https://a.example/?mode=strict\n", "page: https://a.example/?mode=none\n"),
    ("s.yaml", "db: postgres://a@[db/x?sslmode=require\n", "db: postgres://a@[db/x?sslmode=allow\n"),
    ("s.json", '{"enforce_admins": true}', '{"enforce_admins": true, "x": 1}'),
    (
        "nginx.conf",
        nginx("limit_req_zone $a zone=l:1m rate=5r/s"),
        nginx("limit_req_zone $a zone=l:1m rate=8r/s"),
    ),
    ("nginx.conf", nginx("log_format m '$request'"), nginx("log_format m '$request $status'")),
    ("nginx.conf", nginx("access_log /var/log/a m"), nginx("access_log syslog:server=unix:/dev/log m")),
    (
        "nginx.conf",
        nginx("add_header Content-Security-Policy \"script-src 'self' 'nonce-a'\""),
        nginx("add_header Content-Security-Policy \"script-src 'self' 'nonce-b'\""),
    ),
    (
        "pyproject.toml",
        '[tool.poetry.dependencies]\ndjango-ip-whitelist = "0.5a"\n',
        '[tool.poetry.dependencies]\ndjango-ip-whitelist = "0.5"\n',
    ),
    (
        "package.json",
        '{"devDependencies": {"ip-allowlist": "1.0.0"}}',
        '{"devDependencies": {"ip-allowlist": "1.1.0", "cors": "2.0.0"}}',
    ),
    (
        "c.yaml",
        "services: {a: {image: x}}\n",
        "services: {a: {image: x, extra_hosts: ['host.docker.internal:host-gateway', 'db:10.0.0.2']}}\n",
    ),
)


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(("path", "what", "base", "head"), WIDER)
def test_a_value_that_lets_more_through_is_told(path: str, what: str, base: str, head: str) -> None:
    assert told(path, base, head) == {what}


@pytest.mark.parametrize(("path", "what", "base", "head"), WIDER)
def test_the_same_value_is_not_told(path: str, what: str, base: str, head: str) -> None:
    del what
    assert told(path, base, base) == set()
    assert told(path, head, head) == set()


@pytest.mark.parametrize(("path", "base", "head"), ALIKE)
def test_a_value_that_lets_no_more_through_is_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()


def test_a_list_that_moves_to_another_file_trusts_nobody_new() -> None:
    base = {"a.toml": read("a.toml", b'trusted_hosts = ["a", "b"]\n', {})}
    head = {"b.toml": read("b.toml", b'trusted_hosts = ["a", "b"]\n', {})}
    assert [*differences(base, head, {})] == []


@pytest.mark.parametrize(
    ("wide", "narrow", "so"),
    [
        ("10.0.0.0/8", "10.2.0.0/16", True),
        ("10.2.0.0/16", "10.0.0.0/8", False),
        ("10.0.0.0/8", "::/0", False),
        ("s3:*", "s3:GetObject", True),
        ("a.example", "b.example", False),
        ("*", "x", True),
    ],
)
def test_what_covers_what(wide: str, narrow: str, so: bool) -> None:
    assert covers(wide, narrow) is so


@given(st.text(max_size=30))
def test_a_member_covers_itself(text: str) -> None:
    assert covers(text, text)


def test_names_are_compared_in_one_spelling() -> None:
    spelt = {words_of(name) for name in ("allowedOrigins", "allowed_origins", "x.example/allowed-origins")}
    assert spelt == {"allowed-origins"}


@pytest.mark.parametrize("name", ["approvals_required", "required_reviewers_count", "backup_retention_days"])
def test_one_setting_is_told_once(name: str) -> None:
    """Whatever tables know its name."""
    old, new = ({"p.json": read("p.json", f'{{"{name}": {many}}}'.encode(), {})} for many in (30, 0))
    assert len([*differences(old, new, {})]) == 1


def test_a_limit_that_counts_by_what_a_client_sends() -> None:
    base = "limit_req_zone $binary_remote_addr zone=login:10m rate=5r/m;\n"
    for key in ("$http_x_device", "$limit_key"):
        facts = [
            read("nginx.conf", text.encode(), {}) for text in (base, base.replace("$binary_remote_addr", key))
        ]
        assert [one.sort for one in differences({"n": facts[0]}, {"n": facts[1]}, {})] == ["wider"]
    other = read("nginx.conf", base.replace("$binary_remote_addr", "$remote_addr").encode(), {})
    assert not [*differences({"n": read("nginx.conf", base.encode(), {})}, {"n": other}, {})]
