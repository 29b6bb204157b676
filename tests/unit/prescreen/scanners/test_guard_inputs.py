"""Guards that did not change and what they read that did: changes that weaken them, with harmless twins."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.guard_inputs import GuardInputs
from tests.prescreen_support import make_request

GO_STORE = """package lockout

type entry struct {
	failures KIND
}

func (s *Store) Fail(account string) {
	e := s.entries[account]
	e.failures++
	s.entries[account] = e
}

func (s *Store) Failures(account string) int {
	return int(s.entries[account].failures)
}
"""
GO_LOGIN = """package web

func (l *Login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.Lockout.Failures(name) >= mostFailures {
		http.Error(w, "locked", http.StatusTooManyRequests)
		return
	}
}
"""
PY_LEDGER = """from purse.money import amount


def give(self, giver, text):
    value = amount(text)
    if value > self.credit[giver]:
        raise ValueError("not enough credit")
"""
JS_OPEN = """import { now } from "./clock.js";
export function open(word) {
  const one = rows.get(word);
  if (!one || one.until < now()) {
    throw new Error("too old");
  }
  return one.mail;
}
"""
CLOCK = "export function now() {{\n  return {};\n}}\n"
JAVA_ID = """package a;

public record TenantId(String value, String country) {{
    {}
}}
"""
JAVA_GUARD = """package a;

class Files {
    byte[] read(Caller caller, StoredFile file) {
        TenantId tenant = file.tenant();
        if (!tenant.equals(caller.tenant())) {
            throw new NoSuchElementException();
        }
        return file.content();
    }
}
"""
GO_VISIT = """package web

type Visit struct {
	token.Claims
	Notes map[string]string
}
"""
GO_CLAIMS = """package token

type Claims struct{ Sub string }

func (c Claims) Subject() string { return c.Sub }

func (c Claims) Label() string { return c.Sub }
"""
GO_DOCUMENTS = """package web

func (d *Documents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if document.Owner != visit.Subject() {
		http.NotFound(w, r)
		return
	}
}
"""
MONEY = "def amount(text):\n    return {}\n"
VERIFY = "export function build(accounts) {{\n  return new LoginService(accounts, {});\n}}\n"
PHP = "<?php\nfunction clean_name(string $name): string {{\n    {}\n    return $name;\n}}\n"
PRICE = "def total(cents, code, promotions):\n    {}\n    return cents - cents * percent // 100\n"


def told(head: dict[str, str], base: dict[str, str]) -> list[str]:
    found = GuardInputs().scan(make_request({**base, **head}, base)).findings
    return sorted(one.evidence["change"] for one in found if one.rule_id == "guard.input-changed")


@pytest.mark.parametrize(
    ("kind", "expected"), [("uint8", ["narrower"]), ("int64", []), ("int16", ["narrower"])]
)
def test_a_counter_that_begins_again(kind: str, expected: list[str]) -> None:
    base = {"lockout/store.go": GO_STORE.replace("KIND", "int"), "web/login.go": GO_LOGIN}
    assert told({"lockout/store.go": GO_STORE.replace("KIND", kind)}, base) == expected


def test_a_narrow_field_that_no_guard_reads() -> None:
    base = {"lockout/store.go": GO_STORE.replace("KIND", "int")}
    assert told({"lockout/store.go": GO_STORE.replace("KIND", "uint8")}, base) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("round(float(text), 2)", ["inexact"]),
        ("Decimal(text.strip())", []),
        ("finite(float(text)) if math.isfinite(float(text)) else fail()", []),
    ],
)
def test_a_number_that_no_comparison_refuses(now: str, expected: list[str]) -> None:
    base = {"purse/money.py": MONEY.format("Decimal(text)"), "purse/ledger.py": PY_LEDGER}
    assert told({"purse/money.py": MONEY.format(now)}, base) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [("Math.floor(Date.now() / 1000)", ["unit"]), ("Date.now() + shift", []), ("shift + Date.now()", [])],
)
def test_a_clock_in_another_unit(now: str, expected: list[str]) -> None:
    base = {"src/clock.js": CLOCK.format("Date.now()"), "src/open.js": JS_OPEN}
    assert told({"src/clock.js": CLOCK.format(now)}, base) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            (
                "public boolean equals(Object o) { return o instanceof TenantId t && "
                "value.substring(3).equals(t.value.substring(3)) && country.equals(t.country); }"
            ),
            ["equality"],
        ),
        (
            "public boolean equals(Object o) { return o instanceof TenantId t && value.equals(t.value); }",
            ["equality"],
        ),
        (
            (
                "public boolean equals(Object o) { return o instanceof TenantId t && value.equals(t.value) "
                "&& country.equals(t.country); }"
            ),
            [],
        ),
        ("public String shown() { return value.toUpperCase(); }", []),
    ],
)
def test_equality_over_less(now: str, expected: list[str]) -> None:
    base = {"src/main/java/a/TenantId.java": JAVA_ID.format(""), "src/main/java/a/Files.java": JAVA_GUARD}
    assert told({"src/main/java/a/TenantId.java": JAVA_ID.format(now)}, base) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ('func (v *Visit) Subject() string { return v.Notes["seat"] }', ["shadows"]),
        ('func (v *Visit) Label() string { return v.Notes["app"] }', []),
        ("func (v *Visit) Subject() string { return v.Claims.Subject() }", []),
    ],
)
def test_a_method_before_a_promoted_one(now: str, expected: list[str]) -> None:
    base = {"web/visit.go": GO_VISIT, "token/claims.go": GO_CLAIMS, "web/documents.go": GO_DOCUMENTS}
    assert told({"web/labels.go": f"package web\n\n{now}\n"}, base) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("memoize(verifyPassword)", ["kept"]),
        ("remembered(verifyPassword, 60_000)", ["kept"]),
        ("traced(verifyPassword)", []),
        ("memoize(formatName)", []),
    ],
)
def test_an_answer_that_is_kept(now: str, expected: list[str]) -> None:
    base = {"src/container.js": VERIFY.format("verifyPassword")}
    assert told({"src/container.js": VERIFY.format(now)}, base) == expected


def test_a_verifier_with_a_cache_in_python() -> None:
    base = "def verify_token(token):\n    return store.find(token)\n"
    head = f"from functools import lru_cache\n\n\n@lru_cache\n{base}"
    assert told({"app/auth.py": head}, {"app/auth.py": base}) == ["kept"]
    other = base.replace("verify_token", "country_of")
    cached = head.replace("verify_token", "country_of")
    assert told({"app/auth.py": cached}, {"app/auth.py": other}) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ('$name = str_replace("../", "", $name);', ["once"]),
        ('while (str_contains($name, "../")) { $name = str_replace("../", "", $name); }', []),
        ('$name = basename(str_replace("../", "", $name));', []),
        ('$name = str_replace(" ", "_", $name);', []),
    ],
)
def test_a_sanitiser_of_one_pass(now: str, expected: list[str]) -> None:
    assert told({"src/names.php": PHP.format(now)}, {"src/other.php": "<?php\n"}) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("percent = sum(promotions[one].percent for one in code.split('+'))", ["endless"]),
        ("percent = min(100, sum(promotions[one].percent for one in code.split('+')))", []),
        ("percent = promotions[code.upper()].percent", []),
    ],
)
def test_shares_that_have_no_end(now: str, expected: list[str]) -> None:
    base = {"shop/pricing.py": PRICE.format("percent = promotions[code].percent")}
    assert told({"shop/pricing.py": PRICE.format(now)}, base) == expected


PY_OWNER = """class Owner:
    def __init__(self, name, realm):
        self.name = name
        self.realm = realm

    def __eq__(self, other):
        return {}
"""
PY_READ = """def read(doc, user):
    owner: Owner = doc.owner
    if owner != user.owner:
        raise PermissionError(doc)
    return doc
"""
BOTH = "(self.name, self.realm) == (other.name, other.realm)"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("self.name == other.name", ["equality"]),
        ("self.name.lower() == other.name.lower() and self.realm == other.realm", ["equality"]),
        ("self.name == other.name and self.realm == other.realm", []),
    ],
)
def test_equality_in_python(now: str, expected: list[str]) -> None:
    base = {"app/owner.py": PY_OWNER.format(BOTH), "app/read.py": PY_READ}
    assert told({"app/owner.py": PY_OWNER.format(now)}, base) == expected


@pytest.mark.parametrize(
    ("field", "expected"), [("field(compare=False)", ["equality"]), ("field(repr=False)", [])]
)
def test_a_field_that_no_longer_counts(field: str, expected: list[str]) -> None:
    form = "@dataclass(frozen=True)\nclass Owner:\n    name: str\n    realm: str = {}\n"
    base = {"app/owner.py": form.format("''"), "app/read.py": PY_READ}
    assert told({"app/owner.py": form.format(field)}, base) == expected


@pytest.mark.parametrize(
    ("parameter", "expected"), [("strict=False", ["default"]), ("strict=True", []), ("shown=False", [])]
)
def test_a_default_that_refuses_less(parameter: str, expected: list[str]) -> None:
    form = "def verify(token, {}):\n    return signed(token)\n"
    was = parameter.replace("False", "True")
    assert told({"app/a.py": form.format(parameter)}, {"app/a.py": form.format(was)}) == expected


def test_overloads_are_compared_with_themselves() -> None:
    """Python's, and functions of other languages with one name and other parameters."""
    form = (
        "@t.overload\ndef edit(text: bytes, require_save=False) -> bytes: ...\n\n\n"
        "def edit(text, require_save=True):\n    return {}\n"
    )
    assert told({"app/a.py": form.format("text")}, {"app/a.py": form.format("str(text)")}) == []


@pytest.mark.parametrize(("keeps", "expected"), [(True, ["import"]), (False, [])])
def test_a_verifier_of_another_module(keeps: bool, expected: list[str]) -> None:
    form = 'import {{ verify }} from "./{}/verify";\nexport const go = (r) => verify(r);\n'
    verify = "export const verify = (r) => sign(r) === r.s;\n"
    base = {"src/a.ts": form.format("auth"), "src/auth/verify.ts": verify}
    head = {"src/a.ts": form.format("lite"), "src/lite/verify.ts": "export const verify = (r) => true;\n"}
    if keeps:
        assert told(head, base) == expected
    else:
        found = GuardInputs().scan(make_request(head, base)).findings
        assert [one for one in found if one.rule_id == "guard.input-changed"] == []


def test_counters_in_a_narrow_array() -> None:
    form = "export const tries = new {};\nexport function add(n) {{\n  tries[n]++;\n}}\n"
    guard = "export function go(n) {\n  if (tries[n] >= 5) {\n    throw new Error('locked');\n  }\n}\n"
    base = {"src/c.js": form.format("Array(4096)"), "src/g.js": guard}
    assert told({"src/c.js": form.format("Uint8Array(4096)")}, base) == ["narrower"]
    assert told({"src/c.js": form.format("Float64Array(4096)")}, base) == []
