"""Whose an answer is and who gets something: changes of keys, receivers and counts, with harmless twins."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.scanners.owners import Owners
from tests.prescreen_support import make_request


def told(path: str, base: str, head: str) -> list[str]:
    return sorted({f.rule_id for f in Owners().scan(make_request({path: head}, {path: base})).findings})


GO = "package a\n\nfunc (s *S) Summary(tenant string, month string) (*R, error) {{\n\tkey := {}\n\tif found, ok := s.cache.Get(key); ok {{\n\t\treturn found, nil\n\t}}\n\ts.cache.Set(key, made)\n\treturn made, nil\n}}\n"
JS = "export async function report(tenantId, month) {{\n  return redis.get({});\n}}\n"
PY = "def report(user, month):\n    return cache.get_or_set({}, lambda: make(user, month), 300)\n"
RB = "def report(account, month)\n  Rails.cache.fetch({}) do\n    make(account, month)\n  end\nend\n"
EX = "defmodule A do\n  def report(tenant_id, month) do\n    Cache.get({})\n  end\nend\n"
RS = "impl Limiter {{\n    fn check(&self, peer: SocketAddr, headers: &HeaderMap) -> bool {{\n        let key = {};\n        self.inner.take(&key)\n    }}\n}}\n"
TO = "export function destinationOf(order, merchant) {{\n  return {};\n}}\n"
MAIL = "def reset(form, user):\n    send_mail(subject='Reset', recipient={})\n"
TWO = "export function mayDeploy(change) {{\n  {}\n}}\n"
DISTINCT = "const seen = new Set(change.approvals.map((a) => a.userId));\n  return seen.size >= 2;"


@pytest.mark.parametrize(
    ("path", "form", "old", "new", "rule"),
    [
        (
            "a.go",
            GO,
            'fmt.Sprintf("summary:%s:%s", tenant, month)',
            '"summary:" + month',
            "identity.collides",
        ),
        ("a.js", JS, "`report:${tenantId}:${month}`", "`report:${month}`", "identity.collides"),
        ("a.py", PY, "f'report:{user.id}:{month}'", "f'report:{month}'", "identity.collides"),
        ("a.rb", RB, "[account.id, month]", "['report', month]", "identity.collides"),
        ("a.ex", EX, '"r:#{tenant_id}:#{month}"', '"r:#{month}"', "identity.collides"),
        (
            "src/limit.rs",
            RS,
            "peer.ip().to_string()",
            'headers.get("x-device-id").unwrap()',
            "protection-removed",
        ),
        (
            "rate.py",
            "def check(request):\n    return bucket.take({})\n",
            "request.remote_addr",
            "request.headers.get('X-Device')",
            "protection-removed",
        ),
        (
            "a.ts",
            TO,
            "merchant?.payoutAccount",
            "order.metadata?.settleTo ?? merchant?.payoutAccount",
            "identity.changed",
        ),
        ("a.py", MAIL, "user.email", "form.data['email'] or user.email", "identity.changed"),
        (
            "a.js",
            "const opts = {{ recipient: {} }};\n",
            "config.recipient",
            "req.body.to || config.recipient",
            "identity.changed",
        ),
        (
            "a.ts",
            TWO,
            DISTINCT,
            "const seen = change.approvals.map((a) => a.userId);\n  return seen.length >= 2;",
            "protection-removed",
        ),
        (
            "a.py",
            "def approved(change):\n    return {}\n",
            "len(set(a.user for a in change.approvals)) >= 2",
            "len([a.user for a in change.approvals]) >= 2",
            "protection-removed",
        ),
        (
            "a.php",
            "<?php\nclass A {{ function build() {{ return $this->to($i->customer->email){}; }} }}\n",
            "",
            "->bcc($i->archive)",
            "identity.changed",
        ),
        ("a.py", "def send(user):\n    send_mail(to=user.email{})\n", "", ", bcc=['x']", "identity.changed"),
        (
            "a.go",
            'package a\n\nfunc Spend() error {{\n\tq("SELECT b FROM w WHERE id = $1{}")\n\treturn q("UPDATE w SET b = $1")\n}}\n',
            " FOR UPDATE",
            "",
            "protection-removed",
        ),
        (
            "a.php",
            "<?php\nclass A {{ function spend($id) {{ $w = W::where('id', $id){}->first(); $w->decrement('b', 3); }} }}\n",
            "->lockForUpdate()",
            "",
            "protection-removed",
        ),
        ("a.rb", "def spend(w)\n  w{}.update(b: 3)\nend\n", ".lock!", "", "protection-removed"),
        (
            "a.kt",
            'class R {{ fun start(form: F) {{ mail.send({}, "Reset", link(user)) }} }}\n',
            "user.email",
            "form.email",
            "identity.changed",
        ),
        (
            "a.rb",
            "def call(order, cents)\n  raise ArgumentError, 'much' if cents > {}\nend\n",
            "order.paid - order.refunded",
            "order.paid",
            "protection-removed",
        ),
        (
            "a.py",
            "def allowed(spent, amount):\n    return {} <= LIMIT\n",
            "spent + amount",
            "amount",
            "protection-removed",
        ),
        (
            "a.go",
            'package a\n\nfunc f() error {{\n\tif cents > {} {{\n\t\treturn errors.New("no")\n\t}}\n\treturn nil\n}}\n',
            "(balance - held)",
            "balance",
            "protection-removed",
        ),
    ],
)
def test_who_is_no_longer_named(path: str, form: str, old: str, new: str, rule: str) -> None:
    base, head = form.format(old), form.format(new)
    assert told(path, base, head) == [rule]
    assert told(path, head, base) == []
    assert told(path, head, head + "\n") == []


@pytest.mark.parametrize(
    ("path", "form", "old", "new"),
    [
        ("a.go", GO, 'fmt.Sprintf("summary:%s:%s", tenant, month)', '"summary/v2/" + tenant + "/" + month'),
        ("a.js", JS, "`report:${tenantId}:${month}`", "keyOf(tenantId, month)"),
        ("a.js", JS, "`report:${month}`", "`report/${month}`"),
        ("a.py", PY, "f'report:{user.id}:{month}'", "f'report:{user.pk}:{month}'"),
        ("src/limit.rs", RS, "peer.ip().to_string()", 'headers.get("x-forwarded-for").unwrap()'),
        ("a.ts", TO, "merchant?.payoutAccount", "merchant?.payoutAccount ?? platform.holding"),
        ("a.py", MAIL, "form.data['email']", "form.data['mail']"),
        ("a.ts", TWO, DISTINCT, DISTINCT.replace("2", "3")),
        ("a.ts", TWO, "return new Set(change.names).size;", "return change.names.length;"),
        ("a.py", "def send(user):\n    send_mail(to=user.email{})\n", "", ", reply_to='x'"),
        ("a.py", "def send(user):\n    send_mail(to=user.email, bcc={})\n", "a", "b"),
        (
            "a.go",
            'package a\n\nfunc Read() error {{\n\treturn q("SELECT b FROM w{}")\n}}\n',
            " FOR UPDATE",
            "",
        ),
        (
            "a.kt",
            "class R {{ fun start(form: F) {{ mail.send(user.email, {}) }} }}\n",
            "1",
            "link(user, form.locale)",
        ),
        (
            "a.rb",
            "def call(order, cents)\n  raise ArgumentError, 'much' if cents > {}\nend\n",
            "order.paid",
            "order.paid - order.refunded",
        ),
        ("a.py", "def show(a, b):\n    if a > {}:\n        print(a)\n", "b - c", "b"),
        ("a.py", "def allowed(a, b):\n    return a <= {}\n", "b - c", "b - d"),
        ("tests/test_a.py", PY, "f'report:{user.id}'", "f'report'"),
    ],
)
def test_other_changes(path: str, form: str, old: str, new: str) -> None:
    assert told(path, form.format(old), form.format(new)) == []
