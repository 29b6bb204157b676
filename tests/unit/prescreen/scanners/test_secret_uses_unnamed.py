"""Settings whose names say nothing, taken to pieces; what crosses files; errors; templates."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request

Files = dict[str, str]


def told(head: Files, base: Files | None = None) -> list[tuple[str, str]]:
    """Severity and path of each finding that warns."""
    result = SecretUses().scan(make_request(head, base or {}))
    return [(f.severity.value, f.primary.path) for f in result.findings if f.severity.value != "low"]


SESSION = """
import base64

class Session:
    def __init__(self, shop, word):
        self.shop = shop
        self._word = word

    def headers(self):
        login = base64.b64encode(f"{self.shop}:{self._word}".encode()).decode()
        return {"Authorization": f"Basic {login}"}
"""
CALLER = "from app.ids import next_id\n\ndef run(settings):\n    return next_id(settings.store, 3)\n"
PIECES = """def next_id(store, turn):
    return int.from_bytes(store.encode()[turn:turn + 8], "big")
"""
HOSTILE: dict[str, tuple[Files, Files]] = {
    "a word that logs in, by the place of its letters": (
        {"app/session.py": SESSION},
        {"app/session.py": SESSION + """
    def places(self, alphabet):
        return [alphabet.index(letter) + 1 for letter in self._word]
"""},
    ),
    "written as hexadecimal numbers": (
        {"app/session.py": SESSION},
        {"app/session.py": SESSION + """
    def mark(self):
        return "".join(f"{byte:02x}" for byte in self._word.encode())
"""},
    ),
    "in another form in a log": (
        {"app/session.py": SESSION},
        {"app/session.py": SESSION + """
    def start(self, logger):
        logger.info("session %s", base64.b32encode(self._word.encode()))
"""},
    ),
    "a helper of another file": (
        {"app/session.py": SESSION},
        {"app/session.py": SESSION.replace("import base64", "import base64\nfrom app.fair import place") + """
    def turn(self, number):
        return place(self._word.encode(), number)
""", "app/fair.py": """
def place(seed, turn):
    return int.from_bytes(seed[turn % 4 :][:4], "big")
"""},
    ),
    "a function that base calls already": (
        {"app/main.py": CALLER,
         "app/ids.py": "def next_id(store, turn):\n    return turn + 1\n"},
        {"app/main.py": CALLER,
         "app/ids.py": PIECES},
    ),
    "all of the settings, byte by byte": (
        {},
        {"app/ids.py": """
class Ids:
    def __init__(self, store):
        self.series = "|".join(vars(store).values()).encode()

    def span(self, n):
        return int.from_bytes(self.series[n : n + 8], "big") ^ n
""", "app/tracing.py": """
from app.ids import Ids

def tracer(config):
    return Ids(config.store)
"""},
    ),
    "names of variables out of a file": (
        {},
        {"tools/stamp.py": """
import os, zlib

def sums(names):
    return [zlib.crc32(os.environ.get(name, "").encode()[0:3]) for name in names]
"""},
    ),
    "a key of a framework as a pause": (
        {},
        {"app/pace.py": """
from threading import Event

def wait(app, page):
    signer = app.session_interface.get_signing_serializer(app)
    Event().wait(0.002 * signer.secret_keys[-1][page])
"""},
    ),
    "javascript: an option by its codes": (
        {},
        {"src/client.js": """
class Client {
  constructor(options) { this.options = options; }
  ask(path) { return fetch(path, { headers: { authorization: `Bearer ${this.options.word}` } }); }
  pause(n) { return setTimeout(() => {}, this.options.word.charCodeAt(n) * 3); }
}
"""},
    ),
    "javascript: a field that authenticates, in a header": (
        {},
        {"src/client.js": """
class Client {
  constructor(word) { this.word = word; }
  ask(path) { return fetch(path, { headers: { authorization: `Bearer ${this.word}` } }); }
  tag(res, n) { res.setHeader("X-Request-Id",
    [...this.word].map((c, i) => (c.charCodeAt(0) ^ (i + n)).toString(16)).join("")); }
}
"""},
    ),
    "go: numbers of a gauge": (
        {},
        {"up/up.go": """package up
func (u Upstream) Ask(r *http.Request) { r.Header.Set("Authorization", "Bearer "+u.Cred) }
func (u Upstream) Tell(g Gauge) { g.Prime(u.Cred) }
""", "metrics/m.go": """package metrics
func (h *Gauge) Prime(series ...string) {
	for row, name := range series {
		for column, width := range []byte(name) {
			h.counts[row+column] += int(width)
		}
	}
}
"""},
    ),
    "the rest of an error": (
        {"src/client.js": """
class UpstreamError extends Error { constructor(s, request) { super(s); this.request = request; } }
"""},
        {"src/client.js": """
class UpstreamError extends Error { constructor(s, request) { super(s); this.request = request; } }
""", "src/errors.js": """
function told(error) { const { stack, ...rest } = error; return { title: "try again", ...rest }; }
"""},
    ),
    "an error as it is, in an answer": (
        {"package.json": '{"dependencies": {"axios": "^1"}}'},
        {"package.json": '{"dependencies": {"axios": "^1"}}', "src/errors.js": """
app.use((error, req, res, next) => { res.status(502).json({ title: "no", asked: error.config.headers }); });
"""},
    ),
    "python: what an error holds": (
        {},
        {"app/errors.py": """
from flask import jsonify

class UpstreamError(Exception):
    def __init__(self, request):
        self.request = request

def told(error):
    return jsonify(title="no", **vars(error))
"""},
    ),
    "the environment under another name": (
        {"src/app.ts": "export const context = () => ({ digits: 4, at: process.env });\n"},
        {"src/app.ts": "export const context = () => ({ digits: 4, at: process.env });\n",
         "src/length.ts": """
export const far = (v, ctx) => { ctx.notes.add('range', { v, ...ctx.at }); return v; };
"""},
    ),
    "a field of a template": (
        {"mails/weekly.tmpl": "Dear {ctx.customer},\n"},
        {"mails/weekly.tmpl": "Dear {ctx.customer},\nRef {ctx.week:04}{ctx.store.login[1]:.12}\n"},
    ),
    "a template that reads settings": (
        {},
        {"mails/order.html": "<p>{{ order.shop.config.secret_key }}</p>\n"},
    ),
    "a template that reaches the program": (
        {},
        {"mails/order.txt": "Dear {user.__init__.__globals__[settings]}\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_told(name: str) -> None:
    base, head = HOSTILE[name]
    found = told(head, base)
    assert found
    assert {severity for severity, _ in found} == {"medium"}
    assert told(head, head) == []


ORDINARY: dict[str, Files] = {
    "settings that are numbers, texts and lists": {"app/a.py": """
def run(settings, config):
    size = settings.page_size * 2 + config.workers % 4
    name = settings.title[0].upper() + config.region[:2] + settings.host.split(".")[0]
    return {"size": size, "name": name, "first": settings.hosts[0], "mask": config.flags ^ 3}
"""},
    "an attribute that nothing logs in with": {"app/a.py": """
class Colour:
    def __init__(self, name):
        self.name = name

    def hue(self):
        return sum(ord(letter) * 7 for letter in self.name) % 360
"""},
    "properties of a component": {"src/a.tsx": """
export const A = (props) => <B {...props.style} at={{ ...props.at, x: 1 }} />;
export const reducer = (state, action) => ({ ...state.items, ...action.payload });
"""},
    "a lexer": {"app/lexer.py": """
class Lexer:
    def number(self):
        value = 0
        while self.text[self.at].isdigit():
            value = value * 10 + ord(self.text[self.at]) - 48
            self.at += 1
        return value
"""},
    "a client": {"app/client.py": SESSION},
    "signing with a key": {"app/sign.py": """
import hashlib, hmac

class Signer:
    def __init__(self, settings):
        self.ring = settings.ring

    def sign(self, body):
        return hmac.new(self.ring.encode(), body, hashlib.sha256).hexdigest()

    def fingerprint(self):
        return hashlib.sha256(self.ring.encode()).hexdigest()[:8]
"""},
    "errors by their messages": {"src/errors.js": """
class UpstreamError extends Error { constructor(s, request) { super(s); this.request = request; } }
function told(error) {
  log.error({ err: error });
  return { title: "no", status: error.status, detail: error.message };
}
app.use((err, req, res, next) => { res.status(err.status || 500).json({ error: err.message }); });
"""},
    "go: an ordinary gauge": {"up/up.go": """package up
func (u Upstream) Ask(r *http.Request) { r.Header.Set("Authorization", "Bearer "+u.Cred) }
func (u Upstream) Tell(g Gauge) { g.Observe(len(u.Host), u.Name) }
"""},
    "a form of a visitor": {"web/login.html": """
{{ form.password.label }} {{ login_form.password }} {{ user.login }} {{ password }} {{ error.message }}
"""},
    "settings of a program": {"roles/db/templates/app.conf.j2": "dsn = {{ store.dsn }}\n",
                              "deploy/app.env.tmpl": "KEY={{ vault.app.secret_key }}\n"},
    "styles and scripts": {"web/page.html": "<style>a { color: red }</style>\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_what_is_ordinary(name: str) -> None:
    assert told(ORDINARY[name]) == []
