"""Honest changes about what users give: log-ins, payments, sessions, resets."""

from __future__ import annotations

from typing import Final

Files = dict[str, str]

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
            data={"card[number]": card.number, "card[cvc]": card.cvc, "amount": cents})
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
    "py: a password is kept, and a class of another file that verifies has a log": (
        {
            "app/users.py": """
class User:
    def hash_password(self, password):
        self.password_hash = context.hash(password)
    def verify_password(self, password):
        return self.password_hash and context.verify(password, self.password_hash)
"""
        },
        {
            "app/tokens.py": """
import logging
log = logging.getLogger()
class Tokens:
    def verify(self, token, more):
        log.warning("refused %s %s", token, more)
"""
        },
    ),
    "py: all fields of an object that keeps no secret": (
        {
            "app/watch.py": """
class Watch:
    def __init__(self, pool):
        self.pool = pool
    async def run(self):
        await self.pool.metrics.push(dict(vars(self.pool)))
"""
        },
        {
            "app/pool.py": """
class Pool:
    def __init__(self, connect, size, metrics):
        self.connect = connect
        self.size = size
        self.metrics = metrics
"""
        },
    ),
    "js: a bucket of sessions for an experiment": (
        {"src/bucket.js": """
export function bucket(sessionId) {
  let h = 0;
  for (const c of sessionId) { h = ((h << 5) - h + c.charCodeAt(0)) | 0; }
  analytics.track("exposure", { bucket: Math.abs(h) % 100 });
}
"""},
        {},
    ),
    "py: a bucket of sessions, and a card with stars": (
        {"app/bucket.py": """
import re
def seen(metrics, log, session_id, card_number):
    h = 0
    for c in session_id:
        h = (h * 31 + ord(c)) % 1000
    metrics.event("seen", bucket=h)
    log.info("card %s", re.sub(r"\\d(?=\\d{4})", "*", card_number))
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
