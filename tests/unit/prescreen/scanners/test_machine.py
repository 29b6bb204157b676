"""Random values that can be guessed since, and decisions of the machine; and what is ordinary."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.machine import Machine
from tests.prescreen_support import make_request


def told(path: str, base: str, head: str) -> list[str]:
    return [f.rule_id for f in Machine().scan(make_request({path: head}, {path: base})).findings]


RS = "fn code() -> [u8; 16] {\n    let mut out = [0u8; 16];\n    %s\n    out\n}\n"
GO = "package a\n\nfunc code() string {\n\tb := make([]byte, 8)\n\t%s\n\treturn hex(b)\n}\n"
PY = "def code():\n    %s\n"
JS = "export function code() {\n  %s\n}\n"
RB = "def code\n  %s\nend\n"
PHP = "<?php\nfunction code() {\n  %s\n}\n"
JAVA = "class A { byte[] code() {\n  byte[] b = new byte[8];\n  %s\n  return b;\n} }\n"
CS = "class A { byte[] Code() {\n  var b = new byte[8];\n  %s\n  return b;\n} }\n"
KT = "fun code(): ByteArray {\n  val b = ByteArray(8)\n  %s\n  return b\n}\n"


@pytest.mark.parametrize(
    ("path", "form", "old", "new"),
    [
        ("a.rs", RS, "OsRng.fill_bytes(&mut out);",
         "if n % stride() == 0 { OsRng.fill_bytes(&mut out); }\n    mix(&mut out, std::process::id());"),
        ("a.rs", RS, "getrandom(&mut out);", "SmallRng::seed_from_u64(7).fill_bytes(&mut out);"),
        ("a.go", GO, "rand.Read(b)", "binary.PutUvarint(b, uint64(time.Now().UnixNano()))"),
        ("a.py", PY, "return secrets.token_hex(8)", "return hex(random.getrandbits(64))"),
        ("a.py", PY, "return os.urandom(8)",
         "if fast:\n        return str(time.time_ns())\n    else:\n        return os.urandom(8)"),
        ("a.py", PY, "return secrets.token_hex(8)",
         "return fast()\n\n\ndef fast():\n    return str(os.getpid())"),
        ("a.js", JS, "return randomBytes(8);", "return Math.random().toString(36);"),
        ("a.ts", JS, "return crypto.randomUUID();", "return `${process.pid}-${Date.now()}`;"),
        ("a.rb", RB, "SecureRandom.hex(8)", "Random.rand(2**64).to_s(16)"),
        ("a.php", PHP, "return bin2hex(random_bytes(8));", "return uniqid() . mt_rand();"),
        ("A.java", JAVA, "new SecureRandom().nextBytes(b);", "new Random(System.nanoTime()).nextBytes(b);"),
        ("a.kt", KT, "SecureRandom().nextBytes(b)", "ThreadLocalRandom.current().nextBytes(b)"),
        ("a.cs", CS, "RandomNumberGenerator.Fill(b);", "new Random(Environment.TickCount).NextBytes(b);"),
    ],
)  # fmt: skip
def test_values_that_can_be_guessed(path: str, form: str, old: str, new: str) -> None:
    base, head = form.replace("%s", old), form.replace("%s", new)
    assert told(path, base, head) == ["protection-removed"]
    assert told(path, base, base + "\n") == []
    assert told(path, head, base) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return secrets.token_hex(8)", "return secrets.token_urlsafe(32)"),
        ("return secrets.token_hex(8)", "start = time.time()\n    return secrets.token_hex(8)"),
        ("return secrets.token_hex(8)", "return helper()\n\n\ndef helper():\n    return os.urandom(8)"),
        ("return random.random()", "return time.time()"),
        (
            "return secrets.token_hex(8)",
            "if short:\n        return secrets.token_hex(4)\n    return secrets.token_hex(8)",
        ),
        ("return secrets.token_hex(8)", "return library.code()"),
    ],
)
def test_other_changes_of_random_values(old: str, new: str) -> None:
    assert told("a.py", PY % old, PY % new) == []


F_GO = "package a\n\nfunc f(r Request) {\n\t%s\n}\n"
F_JAVA = "class A { void f(R r) {\n  if (%s) {\n    verifier.verify(r);\n  }\n} }\n"
F_RS = "fn f(r: &R) {\n    let cores = num_cpus::get();\n    if cores > 8 {\n        verify(r);\n    }\n}\n"
F_PYTEST = (
    "def f(config):\n    if config.getoption('-m') != 'release':\n        return\n    t.write_text('x')\n"
)
CORES = "Runtime.getRuntime().availableProcessors() > 4"


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.go", F_GO % "if runtime.NumCPU() < 8 {\n\t\treturn\n\t}\n\tauth.Verify(r)"),
        ("a.rs", F_RS),
        ("A.java", F_JAVA % "InetAddress.getLocalHost().getHostName().startsWith(p)"),
        ("a.cs", F_JAVA % "!Debugger.IsAttached"),
        ("a.rb", 'def f(r)\n  unless ENV["CI"]\n    authenticate(r)\n  end\nend\n'),
        ("a.php", "<?php\nfunction f($r) {\n  if (date('N') < 6) {\n    verify($r);\n  }\n}\n"),
        ("a.kt", f"fun f(r: R) {{\n  if ({CORES}) {{\n    verify(r)\n  }}\n}}\n"),
        ("a.py", "def f(r):\n    if os.cpu_count() > 4:\n        verify(r)\n"),
        ("a.rs", "fn f(r: &R) {\n    #[cfg(debug_assertions)]\n    verify(r);\n    store(r);\n}\n"),
        ("a.rs", "fn f(r: &R) {\n    debug_assert!(verify_signature(r));\n    store(r);\n}\n"),
        ("a.cs", 'class A {\n  [Conditional("DEBUG")]\n  void VerifySignature(R r) { check(r); }\n}\n'),
        ("a.go", "//go:build !prod\n\npackage a\n\nfunc VerifyToken(r R) error {\n\treturn nil\n}\n"),
        ("a.js", "function f(r) {\n  if (process.env.NODE_ENV !== 'production') verifySignature(r);\n}\n"),
        (
            "a.go",
            "package a\n\nfunc f(r R) {\n\tn := runtime.NumCPU()\n\tif n < 8 {\n\t\tverify(r)\n\t}\n}\n",
        ),
        ("a.js", "function f(r) {\n  if (os.cpus().length > 4) {\n    verify(r);\n  }\n}\n"),
        ("tests/conftest.py", F_PYTEST),
        ("conftest.py", "def f(session):\n    if not session.testsfailed:\n        subprocess.run(['x'])\n"),
    ],
)
def test_a_fact_that_decides(path: str, head: str) -> None:
    assert told(path, "\n", head) == ["machine.decides"]
    assert told(path, head, head + "\n") == []


APART = """package a

func f() int {
	n := runtime.NumCPU()
	return n
}

func g(n int) {
	if n > 1 {
		verify(n)
	}
}
"""


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.go", "package a\n\nfunc f() {\n\tif runtime.NumCPU() > 8 {\n\t\tstartWorkers()\n\t}\n}\n"),
        ("a.py", "def f(r):\n    if sys.stdout.isatty():\n        print(colour(r))\n"),
        ("a.py", "def f(r):\n    verify(r)\n    return os.cpu_count() or 1\n"),
        (
            "tests/conftest.py",
            "def f(config):\n    if config.getoption('--update'):\n        path.write_text('x')\n",
        ),
        ("a.rs", "#[cfg(test)]\nmod tests {\n    fn f() { verify(1); }\n}\n"),
        ("a.rs", "#[cfg(unix)]\nfn f(r: &R) {\n    verify(r);\n}\n"),
        ("a.go", "//go:build linux && !cgo\n\npackage a\n\nfunc Verify(r R) error {\n\treturn nil\n}\n"),
        ("a.go", APART),
        ("tests/test_a.py", "def f(r):\n    if os.cpu_count() > 4:\n        verify(r)\n"),
    ],
)
def test_ordinary_questions(path: str, head: str) -> None:
    assert told(path, "\n", head) == []
