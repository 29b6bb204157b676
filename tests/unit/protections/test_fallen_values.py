"""Protections that are still there and worth less: hostile and harmless twins of each form, by language."""

from __future__ import annotations

import pytest

from gate.protections.compare import losses
from gate.protections.generic import reader as generic
from gate.protections.javascript import reader as javascript
from gate.protections.python import reader as python
from gate.protections.unit_losses import Loss

READERS = {"py": python.read, "js": javascript.read, "go": generic.read, "rs": generic.read}

ORDER = """
class Order(BaseModel):
    quantity: int = {}
"""
SERIALIZER = """
class VisitSerializer(ModelSerializer):
    {}
    class Meta:
        model = Visit
        fields = ["id", "patient", "note"]
        read_only_fields = {}
"""
MODEL = """
class Current(models.Manager):
    def get_queryset(self):
        return super().get_queryset(){}

class Visit(models.Model):
    objects = {}
"""
REFRESH = """
class Sessions:
    def refresh(self, token):
        user = {}
        return self.open(user)
"""
HASHERS = 'PASSWORD_HASHERS = ["x.{}PasswordHasher", "x.{}PasswordHasher"]\n'
LOGGING = 'LOGGING = {{"loggers": {{"shop.audit": {{"handlers": ["a"], "level": "{}"}}}}}}\n'
ORIGINS = 'CORS_ALLOWED_ORIGIN_REGEXES = [r"{}"]\n'
TENANT = "def work(cursor, tenant):\n    cursor.execute({}, (tenant,))\n"
CODE = "def begin(user):\n    code = {}\n    return code\n"
PRICE = "@app.post('/orders')\ndef order(body):\n    return total(body.sku, {})\n"
NOTE = "def note(line, pattern=''):\n    {}\n"
ZOD = "const profile = z.object({{ name: z.string(), seats: z.number(){} }}){};\n"
SERVER = "const server = new ApolloServer({{ typeDefs, validationRules: [{}] }});\n"
LIMIT = "const limit = rateLimit({{ windowMs: 60000, limit: 10{} }});\n"
ACTOR = "function requireUser(req, res, next) {{\n  req.user = {};\n  next();\n}}\n"
REDEEM = """async function redeemInvite(token) {{
  const found = await invites.get(token);
  {}
  return found;
}}
"""
GIN = """package api
func routes() {{
	r := gin.New()
	v1 := r.Group("/v1")
	{}
	{}
	{}
}}
"""
AXUM = """fn app() -> Router {{
    Router::new().route("/items", get(list)){}.layer(from_fn(require_key)){}.route("/health", get(health))
}}
"""
JWT = """package api
func subject(raw string) error {{
	_, err := jwt.Parse(raw, key, jwt.WithIssuer("a"){})
	return err
}}
"""
USE, MOVES = "v1.Use(s.requireKey)", 'v1.POST("/moves", s.moves)'

HOSTILE = [
    ("py", ORDER.format("Field(gt=0, le=5)"), ORDER.format("Field(default=1, le=5)")),
    ("py", ORDER.format("Field(ge=0)"), ORDER.format("0")),
    ("py", SERIALIZER.format("", '["id", "patient"]'), SERIALIZER.format("", '["id"]')),
    (
        "py",
        SERIALIZER.format("owner = PKField(read_only=True)", "[]"),
        SERIALIZER.format("owner = PKField()", "[]"),
    ),
    (
        "py",
        MODEL.format(".filter(gone=False)", "Current()"),
        MODEL.format(".filter(gone=False)", "models.Manager()"),
    ),
    ("py", MODEL.format(".filter(gone=False)", "Current()"), MODEL.format("", "Current()")),
    ("py", REFRESH.format("self._by.pop(token)"), REFRESH.format("self._by[token]")),
    ("py", HASHERS.format("Argon2", "UnsaltedMD5"), HASHERS.format("UnsaltedMD5", "Argon2")),
    ("py", LOGGING.format("INFO"), LOGGING.format("ERROR")),
    ("py", ORIGINS.format(r"^https://a\.shop\.example$"), ORIGINS.format(r"^https://a\.shop\.example")),
    ("py", ORIGINS.format(r"^https://a\.shop\.example$"), ORIGINS.format(r"^https://a.shop.example$")),
    (
        "py",
        TENANT.format("\"SELECT set_config('app.t', %s, true)\""),
        TENANT.format("\"SELECT set_config('app.t', %s, false)\""),
    ),
    ("py", TENANT.format('"SET LOCAL app.t = %s"'), TENANT.format('"SET app.t = %s"')),
    (
        "py",
        CODE.format("secrets.token_urlsafe(24)"),
        CODE.format('"".join(secrets.choice("0123456789") for _ in range(6))'),
    ),
    ("py", CODE.format("secrets.token_urlsafe(24)"), CODE.format('f"{secrets.randbelow(10**6):06d}"')),
    ("py", "totp.verify(code, valid_window=1)\n", "totp.verify(code, valid_window=120)\n"),
    ("py", PRICE.format("body.quantity"), PRICE.format("body.quantity, body.unit_cents")),
    ("py", NOTE.format("return f'{line}'"), NOTE.format("return (pattern or OURS).format(line=line)")),
    ("js", ZOD.format("", ".strict()"), ZOD.format("", ".passthrough()")),
    ("js", ZOD.format("", ""), ZOD.format("", ".catchall(z.any())")),
    ("js", ZOD.format(".int().positive()", ""), ZOD.format(".int()", "")),
    ("js", SERVER.format("depthLimit(6)"), SERVER.format("")),
    ("js", SERVER.format("depthLimit(6)"), SERVER.format("depthLimit(600)")),
    ("js", LIMIT.format(""), LIMIT.format(', skip: (req) => req.get("x-probe") === "1"')),
    ("js", ACTOR.format("userById(session.id)"), ACTOR.format('userById(req.get("x-act-as"))')),
    ("js", REDEEM.format("await invites.delete(token);"), REDEEM.format("")),
    ("go", GIN.format(USE, MOVES, ""), GIN.format(MOVES, USE, "")),
    ("go", GIN.format(USE, MOVES, ""), GIN.format("s.register(v1)", USE, "")),
    (
        "rs",
        AXUM.format('.route("/items/:id", get(item))', ""),
        AXUM.format("", '.route("/items/:id", get(item))'),
    ),
    ("go", JWT.format(', jwt.WithAudience("b")'), JWT.format("")),
]
HARMLESS = [
    ("py", ORDER.format("Field(gt=0, le=5)"), ORDER.format("PositiveInt")),
    ("py", ORDER.format("Field(ge=-90)"), ORDER.format("Field(default=0)")),
    ("py", SERIALIZER.format("", '["id", "note"]'), SERIALIZER.format("", '["id"]')),
    (
        "py",
        SERIALIZER.format("", '["patient"]'),
        SERIALIZER.format("patient = PKField(read_only=True)", "[]"),
    ),
    ("py", MODEL.format("", "models.Manager()"), MODEL.format(".filter(gone=False)", "Current()")),
    (
        "py",
        MODEL.format(".filter(gone=False)", "Current()"),
        MODEL.format(".exclude(gone=True)", "Current()"),
    ),
    ("py", REFRESH.format("self._by.pop(token)"), REFRESH.format("self._rotate(token)")),
    ("py", HASHERS.format("PBKDF2", "UnsaltedMD5"), HASHERS.format("Argon2", "UnsaltedMD5")),
    ("py", LOGGING.format("INFO"), LOGGING.format("DEBUG")),
    ("py", ORIGINS.format(r"^https://a\.shop\.example$"), ORIGINS.format(r"^https://(a|b)\.shop\.example$")),
    (
        "py",
        TENANT.format('"SET LOCAL app.t = %s"'),
        TENANT.format("\"SELECT set_config('app.t', %s, true)\""),
    ),
    ("py", TENANT.format('"SET LOCAL statement_timeout = 5"'), TENANT.format('"SET statement_timeout = 5"')),
    ("py", CODE.format("secrets.token_urlsafe(24)"), CODE.format("secrets.token_urlsafe(32)")),
    ("py", "totp.verify(code, valid_window=1)\n", "totp.verify(code, valid_window=2)\n"),
    ("py", PRICE.format("body.quantity"), PRICE.format("body.quantity, body.coupon")),
    ("py", NOTE.format("return f'{line}'"), NOTE.format("return OURS.format(line=line)")),
    ("js", ZOD.format("", ""), ZOD.format("", ".strict()")),
    ("js", ZOD.format("", ".strict()"), ZOD.format("", "")),
    ("js", ZOD.format(".positive()", ""), ZOD.format(".min(1)", "")),
    ("js", "const a = 1;\n", ZOD.format("", ".passthrough()")),
    ("js", SERVER.format("depthLimit(6)"), SERVER.format("depthLimit(8)")),
    ("js", LIMIT.format(""), LIMIT.format(", skip: () => isTest")),
    ("js", ACTOR.format("userById(session.id)"), ACTOR.format("verify(req.headers.authorization)")),
    ("js", REDEEM.format("await invites.delete(token);"), REDEEM.format("await invites.markUsed(token);")),
    ("go", GIN.format(USE, MOVES, ""), GIN.format('v1.GET("/open", s.open)', USE, MOVES)),
    (
        "rs",
        AXUM.format('.route("/items/:id", get(item))', ""),
        AXUM.format('.route("/items/{id}", get(item))', ""),
    ),
    ("go", JWT.format(', jwt.WithAudience("b")'), JWT.format(', jwt.WithAudience("b"), jwt.WithLeeway(9)')),
]


def _losses(ending: str, base: str, head: str) -> list[Loss]:
    path = f"shop/sessions.{ending}"
    read = READERS[ending]
    before, after = (read(path, text.encode(), {}) for text in (base, head))
    return [one for one in losses({path: before}, {path: after}, {path: path}) if not one.mild]


@pytest.mark.parametrize(("ending", "base", "head"), HOSTILE)
def test_what_is_worth_less_is_told_once(ending: str, base: str, head: str) -> None:
    assert len(_losses(ending, base, head)) == 1
    assert _losses(ending, base, base) == []


@pytest.mark.parametrize(("ending", "base", "head"), HARMLESS)
def test_what_is_worth_as_much_is_not(ending: str, base: str, head: str) -> None:
    assert _losses(ending, base, head) == []
