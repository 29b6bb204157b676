"""What the next caller gets: pooled values, contexts of threads, keys of new caches; with harmless twins."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.scanners.shared_state import SharedState
from tests.prescreen_support import make_request


def told(path: str, base: str, head: str) -> list[str]:
    return sorted({f.rule_id for f in SharedState().scan(make_request({path: head}, {path: base})).findings})


GO = "package a\n\nfunc Render(l Label) ([]byte, error) {{\n\tout := pool.Get().(*bytes.Buffer)\n\t{}\n\tif err := page.Execute(out, l); err != nil {{\n\t\treturn nil, err\n\t}}\n\t{}\n}}\n"
CS = "class A {{ byte[] Read(Stream s) {{\n  var b = ArrayPool<byte>.Shared.Rent(9);\n  try {{ s.Read(b); return {}; }}\n  finally {{ ArrayPool<byte>.Shared.Return(b); }}\n}} }}\n"
PY = "def read(pool):\n    buf = pool.get()\n    try:\n        return {}\n    finally:\n        pool.release(buf)\n"


@pytest.mark.parametrize(
    ("path", "head", "rules"),
    [
        ("a.go", GO.format("defer pool.Put(out)", "return out.Bytes(), nil"), 1),
        ("a.go", GO.format("defer func() { pool.Put(out) }()", "return out.Bytes(), nil"), 1),
        ("a.go", GO.format("", "data := out.Bytes()\n\tpool.Put(out)\n\treturn data, nil"), 1),
        ("a.go", GO.format("defer putBuffer(out)", "return out.Bytes()[:9], nil"), 1),
        ("a.go", GO.format("defer pool.Put(out)", "return bytes.Clone(out.Bytes()), nil"), 0),
        ("a.go", GO.format("defer pool.Put(out)", "return []byte(out.String()), nil"), 0),
        ("a.go", GO.format("", "return out.Bytes(), nil"), 0),
        ("a.cs", CS.format("b"), 1),
        ("a.cs", CS.format("b.ToArray()"), 0),
        ("a.py", PY.format("memoryview(buf)"), 1),
        ("a.py", PY.format("bytes(buf)"), 0),
    ],
)
def test_pooled(path: str, head: str, rules: int) -> None:
    assert told(path, "", head) == ["shared.pooled-value"] * rules


JAVA = "class BrokerContext {{ private static final ThreadLocal<Long> CURRENT = {}; }}\n"
TASK = "class A {{ CompletableFuture<String> export() {{\n  long broker = BrokerContext.require();\n  return CompletableFuture.supplyAsync({}, executor);\n}} }}\n"
SETS = "() -> { BrokerContext.set(broker); try { return csv(); } finally { BrokerContext.clear(); } }"
FILTER = "class A {{ void filter(Request r) {{\n  TenantContext.set(r.tenant());\n  {}\n}} }}\n"
JS = "export function handle(req, next) {{\n  {};\n}}\n"


@pytest.mark.parametrize(
    ("path", "form", "old", "new", "rules"),
    [
        ("A.java", JAVA, "new ThreadLocal<>()", "new InheritableThreadLocal<>()", 1),
        ("A.java", JAVA, "new InheritableThreadLocal<>()", "new InheritableThreadLocal<Long>()", 0),
        ("A.java", TASK, SETS, "this::csv", 1),
        ("A.java", TASK, "this::csv", "this::pdf", 0),
        ("A.java", FILTER, "try { next(r); } finally { TenantContext.clear(); }", "next(r);", 1),
        ("A.java", FILTER, "next(r);", "next(r); log(r);", 0),
        ("a.js", JS, "storage.run(req.tenant, next)", "storage.enterWith(req.tenant); next()", 1),
        ("a.js", JS, "storage.run(req.tenant, next)", "storage.run(req.tenant, () => next())", 0),
    ],
)
def test_contexts(path: str, form: str, old: str, new: str, rules: int) -> None:
    assert told(path, form.format(old), form.format(new)) == ["shared.kept-context"] * rules


TS = "export function payslips(session: Session, year: number) {{\n  return unstable_cache(() => load(session, year), {}, {{ tags: [`p-${{session.employeeId}}`] }})();\n}}\n"
RB = "def slips(year)\n  Rails.cache.fetch({}) {{ {} }}\nend\n"
PHP = "<?php\nfunction slips($year) {{\n  return Cache::remember({}, 60, fn () => {});\n}}\n"
SET = "def slips(user, year):\n    key = {}\n    found = cache.get(key)\n    if found:\n        return found\n    rows = load(user.id, year)\n    cache.set(key, rows, 60)\n    return rows\n"
LRU = "@lru_cache(maxsize=9)\ndef slips(year):\n    return load({}, year)\n"
SPRING = 'class A {{ @Cacheable(value = "slips", key = "{}")\n  public List<Slip> slips(long employeeId, int year) {{ return load(employeeId, year); }} }}\n'
CSHARP = "class A {{ Task<X> Slips(int year) {{\n  return _cache.GetOrCreateAsync({}, entry => Load(_user.EmployeeId, year));\n}} }}\n"


@pytest.mark.parametrize(
    ("path", "head", "rules"),
    [
        ("a.ts", TS.format('["slips", String(year)]'), 1),
        ("a.ts", TS.format('["slips", session.employeeId, String(year)]'), 0),
        ("a.ts", TS.format("keyOf(year)"), 0),
        ("a.rb", RB.format('"slips/#{year}"', "current_user.payslips.to_a"), 1),
        ("a.rb", RB.format("[current_user, year]", "current_user.payslips.to_a"), 0),
        ("a.rb", RB.format('"slips/#{year}"', "Payslip.where(year: year).to_a"), 0),
        ("a.php", PHP.format('"slips-$year"', "Slip::for(Auth::user()->id, $year)"), 1),
        ("a.php", PHP.format('"slips-{$user->id}-$year"', "Slip::for($user->id, $year)"), 0),
        ("a.py", SET.format('f"slips:{year}"'), 1),
        ("a.py", SET.format('f"slips:{user.id}:{year}"'), 0),
        ("a.py", SET.format("cache_key(user, year)"), 0),
        ("a.py", LRU.format("current_user.id"), 1),
        ("a.py", LRU.format("settings.COMPANY"), 0),
        ("A.java", SPRING.format("#year"), 1),
        ("A.java", SPRING.format("#employeeId + '-' + #year"), 0),
        ("a.cs", CSHARP.format('$"slips-{year}"'), 1),
        ("a.cs", CSHARP.format('$"slips-{_user.EmployeeId}-{year}"'), 0),
    ],
)
def test_keys_of_new_caches(path: str, head: str, rules: int) -> None:
    assert told(path, "", head) == ["shared.cache-key"] * rules
