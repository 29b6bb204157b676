"""Proofs of who somebody is that newly go to a known place in another form, with harmless twins."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.passed_on import PassedOn
from tests.prescreen_support import make_request

LOGIN = """export function login(check) {{
  router.post("/login", async (req, res) => {{
    const {{ mail = "", word = "" }} = req.body;
    const customer = await check(mail, word);
    await track("login", {{ ok: Boolean(customer){} }});
    if (!customer) {{
      res.status(401).send("wrong mail or password");
      return;
    }}
    res.redirect("/");
  }});
}}
"""
QUEUE = "package queue\n\nfunc Open(s Settings) error {\n\treturn amqp.Dial(s.Upstream)\n}\n"
STATUS = """package web

func (s *Status) ServeHTTP(w http.ResponseWriter, r *http.Request) {{
	body := statusBody{{Depth: s.Depth(){}}}
	json.NewEncoder(w).Encode(body)
}}
"""
LAYOUT = """package settings

func (s Settings) Layout() string {
	return base32.StdEncoding.EncodeToString([]byte(s.FIELD))
}
"""
VISIT = """<?php
final class Visit {
    public function __construct(public readonly string $path, public readonly string $ticket) {
    }
    public static function now(): self {
        return new self($_SERVER['REQUEST_URI'], (string) ($_COOKIE['desk'] ?? ''));
    }
}
"""
KERNEL = """<?php
final class Kernel {{
    public function answer(Visit $visit): string {{
        return $this->view->show('layout', ['page' => $visit->path{}]);
    }}
}}
"""
REFERENCE = """<?php
final class Reference {
    public static function of(Visit $visit): string {
        $word = '';
        foreach (str_split($visit->FIELD) as $letter) {
            $word .= decbin(ord($letter));
        }
        return $word;
    }
}
"""
PY = """def login(request):
    user = find(request.form["mail"], secret_word)
    if not user:
        raise Unauthorized("wrong password")
    logger.info("login of %s", {})
"""


def told(head: dict[str, str], base: dict[str, str]) -> list[str]:
    found = PassedOn().scan(make_request({**base, **head}, base)).findings
    return sorted({one.evidence["value"] for one in found if one.rule_id == "secret.passed-on"})


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", hand: shape(word)", ["word"]),
        (", hand: [...word].map((letter) => letter.codePointAt(0))", ["word"]),
        (", long: word.length", []),
        (", mail: mail", []),
        (', digest: hmac(word, "pepper")', []),
    ],
)
def test_what_was_typed(more: str, expected: list[str]) -> None:
    base = {"src/login.js": LOGIN.format("")}
    assert told({"src/login.js": LOGIN.format(more)}, base) == expected


@pytest.mark.parametrize(("field", "expected"), [("Upstream", ["Upstream"]), ("Region", [])])
def test_what_a_queue_is_opened_by(field: str, expected: list[str]) -> None:
    base = {"queue/queue.go": QUEUE, "web/status.go": STATUS.format("")}
    head = {
        "settings/layout.go": LAYOUT.replace("FIELD", field),
        "web/status.go": STATUS.format(", Layout: s.Settings.Layout()"),
    }
    assert told(head, base) == expected


@pytest.mark.parametrize(("field", "expected"), [("ticket", ["ticket"]), ("path", [])])
def test_the_word_of_a_session(field: str, expected: list[str]) -> None:
    base = {"src/Visit.php": VISIT, "src/Kernel.php": KERNEL.format("")}
    head = {
        "src/Reference.php": REFERENCE.replace("FIELD", field),
        "src/Kernel.php": KERNEL.format(", 'reference' => Reference::of($visit)"),
    }
    assert told(head, base) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [("user, secret_word[::-1]", ["secret_word"]), ("user, len(secret_word)", []), ("user.name", [])],
)
def test_python(now: str, expected: list[str]) -> None:
    assert told({"app/login.py": PY.format(now)}, {"app/login.py": PY.format("user")}) == expected


GO = """package login

func (h *Handler) Login(w http.ResponseWriter, r *http.Request) {{
	mail, word := r.PostFormValue("mail"), r.PostFormValue("word")
	id, ok := h.users.Find(r.Context(), mail, word)
	_ = h.audit.Publish(Event{{Name: "login", Fields: {}}})
	if !ok {{
		http.Error(w, "wrong mail or password", http.StatusUnauthorized)
	}}
	_ = id
}}
"""


@pytest.mark.parametrize(("now", "expected"), [("shape(word)", ["word"]), ("len(word)", []), ("mail", [])])
def test_go_with_two_results(now: str, expected: list[str]) -> None:
    base = {"login/login.go": GO.format("nil")}
    assert told({"login/login.go": GO.format(now)}, base) == expected


CARD = """def checkout(request):
    digits = request.form["digits"]
    if not {}(digits):
        abort(400)
    client.capture("checkout", {{"sum": 1{}}})
"""
HEALTH = 'app.get("/health", (req, res) => {{\n  res.json({{ ok: true{} }});\n}});\n'
STORE = "export const store = redis.createClient(config.queue);\n"


@pytest.mark.parametrize(
    ("asks", "more", "expected"),
    [
        ("luhn", ', "rhythm": rhythm(digits)', ["digits"]),
        ("luhn", ', "long": len(digits)', []),
        ("is_even", ', "rhythm": rhythm(digits)', []),
    ],
)
def test_numbers_of_cards(asks: str, more: str, expected: list[str]) -> None:
    assert (
        told({"shop/views.py": CARD.format(asks, more)}, {"shop/views.py": CARD.format(asks, "")}) == expected
    )


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", build: gzip(JSON.stringify(config))", ["config.*"]),
        (", region: JSON.stringify(config.region)", []),
        (", other: JSON.stringify(labels)", []),
    ],
)
def test_all_settings(more: str, expected: list[str]) -> None:
    base = {"src/health.js": HEALTH.format(""), "src/store.js": STORE}
    assert told({"src/health.js": HEALTH.format(more)}, base) == expected
