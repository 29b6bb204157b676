"""Checks that do not hold, and beside each the one that does: file, rule, hole, twin."""

from __future__ import annotations

from collections.abc import Callable

Make = Callable[..., str]
Pair = tuple[str, str, str, str]


def _js(body: str, around: str = "") -> str:
    return f"const fs = require('fs'), path = require('path'), cp = require('child_process');\n{around}\napp.get('/x', (req, res) => {{\n{body}\n}});\n"


def _go(body: str, around: str = "") -> str:
    return f'package a\n\nimport (\n\t"os"\n\t"os/exec"\n\t"regexp"\n\t"net/http"\n\t"path/filepath"\n\t"strings"\n)\n\n{around}\n\nfunc h(w http.ResponseWriter, r *http.Request) {{\n{body}\n}}\n'


def _java(body: str, around: str = "") -> str:
    return f'class A {{\n  {around}\n  @GetMapping("/x")\n  String f(@RequestParam String n) throws Exception {{\n    {body}\n    return "";\n  }}\n}}\n'


def _php(body: str, around: str = "") -> str:
    return f"<?php\n{around}\n$n = $_GET['n'];\n{body}\n"


def _rb(body: str, around: str = "") -> str:
    return f"class AController < ApplicationController\n  def f\n{body}\n  end\n{around}\nend\n"


def _cs(body: str, _: str = "") -> str:
    return f"class A : ControllerBase {{\n  [HttpGet]\n  public IActionResult F([FromQuery] string n) {{\n{body}\n  }}\n}}\n"


def _both(path: str, rule: str, make: Make, text: str, hole: str, twin: str, around: str = "") -> Pair:
    """``@@`` in the text or in what stands around it is the check."""
    first, second = (make(text.replace("@@", one), around.replace("@@", one)) for one in (hole, twin))
    return path, rule, first, second


_JS_PATH = "const full = path.resolve(ROOT, req.query.n);\nif (!@@) { return res.sendStatus(400); }\nfs.readFile(full, done);"
_GO_PATH = 'full := filepath.Join(root, r.FormValue("n"))\nif @@ {\n\treturn\n}\nos.ReadFile(full)'
_JAVA_PATH = "File file = new File(ROOT, n); if (!@@) { throw new E(); } Files.readString(file.toPath());"
_SH_JS = "const n = req.query.n;\nif (!@@) { return res.sendStatus(400); }\ncp.exec('host ' + n);"
_SH_GO = 'n := r.FormValue("n")\nif !names.MatchString(n) {\n\treturn\n}\nexec.Command("sh", "-c", "host "+n).Run()'
_SH_RB = '    n = params[:n]\n    return head(400) unless @@\n    system("host #{n}")'
_SSRF = "if (!ok(req.query.u)) { return res.sendStatus(400); }\nfetch(req.query.u);"
PAIRS = [
    _both("a.go", "path", _go, "n := strings.@@\nos.ReadFile(root + n)", "Replace(r.FormValue(\"n\"), \"../\", \"\", -1)", "ReplaceAll(r.FormValue(\"n\"), \"/\", \"-\")"),
    _both("a.php", "path", _php, "readfile('/srv/' . str_replace(@@, '', $n));", "'../'", "'/'"),
    _both("a.js", "path", _js, _JS_PATH, "full.startsWith(ROOT)", "full.startsWith(ROOT + path.sep)"),
    _both("a.js", "path", _js, _JS_PATH, "full.startsWith(path.resolve(ROOT))", "full.startsWith(`${ROOT}/`)"),
    _both("a.js", "path", _js, _JS_PATH, "(full.indexOf(ROOT) === 0)", "(full.indexOf(ROOT + '/') === 0)"),
    (*_both("a.js", "path", _js, _JS_PATH, "inside(full)", "inside(full)", "const ROOT = '/srv/files';\nfunction inside(p) { return p.startsWith('/srv/files'); }")[:3],
     _js(_JS_PATH.replace("@@", "inside(full)"), "function inside(p) { return p.startsWith('/srv/files/'); }")),
    _both("a.js", "path", _js, "const n = req.query.n.@@;\nfs.readFile('/data/' + n, done);", "replace('../', '')", "replace(/[^a-z0-9]/g, '')"),
    _both("a.js", "path", _js, "const n = req.query.n;\nif (!/^[a-z%0-9]+$/.test(n)) { return res.sendStatus(400); }\nfs.readFile('/data/' + @@, done);", "decodeURIComponent(n)", "n"),
    _both("a.go", "path", _go, _GO_PATH, "!strings.HasPrefix(full, root)", "!strings.HasPrefix(full, root+string(os.PathSeparator))", "var root = dir()"),
    _both("a.go", "path", _go, _GO_PATH, "strings.HasPrefix(full, filepath.Clean(root)) == false", "!strings.HasPrefix(full, filepath.Clean(root)+\"/\")", "var root = dir()"),
    (*_both("a.go", "path", _go, _GO_PATH, "!within(root, full)", "!within(root, full)", "var root = dir()\n\nfunc within(base, full string) bool {\n\treturn strings.HasPrefix(full, base)\n}")[:3],
     _go(_GO_PATH.replace("@@", "!within(root, full)"), "var root = dir()\n\nfunc within(base, full string) bool {\n\treturn strings.HasPrefix(full, base+\"/\")\n}")),
    _both("a.go", "path", _go, "os.ReadFile(filepath.Join(root, @@))", "filepath.Clean(r.FormValue(\"n\"))", "filepath.Base(r.FormValue(\"n\"))"),
    _both("A.java", "path", _java, _JAVA_PATH, "file.getCanonicalPath().startsWith(ROOT)", "file.getCanonicalPath().startsWith(ROOT + File.separator)"),
    _both("A.java", "path", _java, _JAVA_PATH, "file.getAbsolutePath().startsWith(base.getAbsolutePath())", "file.toPath().toRealPath().startsWith(base.toPath())"),
    _both("A.java", "path", _java, "@@ full = base.resolve(n).normalize(); if (!full.startsWith(base)) { throw new E(); } Files.readString(Path.of(full));", "String", "Path"),
    _both("a.php", "path", _php, "$full = realpath(ROOT . '/' . $n);\nif (!@@) { exit; }\nreadfile($full);", "str_starts_with($full, ROOT)", "str_starts_with($full, ROOT . '/')"),
    _both("a.php", "path", _php, "$full = realpath(ROOT . '/' . $n);\nif (@@) { exit; }\nreadfile($full);", "strpos($full, ROOT) !== 0", "strpos($full, ROOT . DIRECTORY_SEPARATOR) !== 0"),
    _both("a.php", "path", _php, "$n = @@;\ninclude '/srv/t/' . $n . '.php';", "str_replace('../', '', $n)", "preg_replace('/[^a-z]/', '', $n)"),
    _both("A.cs", "path", _cs, "var p = Path.GetFullPath(Path.Combine(root, n)); if (!p.StartsWith(@@)) { return Forbid(); } return PhysicalFile(p, \"a/b\");", "root", "root + \"/\""),
    _both("a.rb", "path", _rb, "    full = File.expand_path(File.join(ROOT, params[:n]))\n    return head(400) unless full.start_with?(@@)\n    send_file(full)", "ROOT", "ROOT + '/'"),
    _both("a.js", "shell", _js, _SH_JS, "/^[a-z0-9.]+/.test(n)", "/^[a-z0-9.]+$/.test(n)"),
    _both("a.js", "shell", _js, _SH_JS, "new RegExp('[a-z0-9.]+$').test(n)", "new RegExp('^[a-z0-9.]+$').test(n)"),
    (*_both("a.js", "shell", _js, _SH_JS, "isHost(n)", "isHost(n)", "function isHost(h) { return h !== '' && /^[a-z0-9.]+/.test(h); }")[:3],
     _js(_SH_JS.replace("@@", "isHost(n)"), "function isHost(h) { return h !== '' && /^[a-z0-9.]+$/.test(h); }")),
    _both("a.js", "shell", _js, _SH_JS, "/^[a-z0-9.]+$/m.test(n)", "/^[a-z0-9.]+$/i.test(n)"),
    _both("a.go", "shell", _go, _SH_GO, "`^[a-z.]+`", "`^[a-z.]+$`", "var names = regexp.MustCompile(@@)"),
    _both("a.go", "shell", _go, _SH_GO, "`[a-z.]+$`", "`\\A[a-z.]+\\z`", "var names = regexp.MustCompile(@@)"),
    _both("a.rb", "shell", _rb, _SH_RB, "n =~ /^[a-z.]+$/", "n =~ /\\A[a-z.]+\\z/"),
    _both("a.rb", "shell", _rb, _SH_RB, "n.match?(/^[a-z.]+$/)", "n.match?(/\\A[a-z.]+\\z/)"),
    _both("a.php", "shell", _php, "if (!preg_match(@@, $n)) { exit; }\nsystem('host ' . $n);", "'/^[a-z.]+/'", "'/^[a-z.]+$/D'"),
    _both("A.java", "shell", _java, "if (!@@) { throw new E(); } Runtime.getRuntime().exec(\"host \" + n);", "HOST.matcher(n).find()", "HOST.matcher(n).matches()", "static final Pattern HOST = Pattern.compile(\"[a-z.]+\");"),
    ("a.js", "ssrf", _js(_SSRF, "const BAD = ['localhost', '127.0.0.1'];\nfunction ok(u) { return !BAD.includes(new URL(u).hostname); }"),
     _js(_SSRF, "const GOOD = ['a.example'];\nfunction ok(u) { return GOOD.includes(new URL(u).hostname); }")),
    ("a.js", "ssrf", _js(_SSRF, "function ok(u) {\n  if (u.includes('localhost')) { return false; }\n  return true;\n}"),
     _js(_SSRF, "function ok(u) {\n  if (!GOOD.has(new URL(u).host)) { return false; }\n  return true;\n}")),
]  # fmt: skip
