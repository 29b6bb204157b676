"""Checks of signatures that nobody has to send, and beside each one that has to be: file, rule, hole, twin."""

from __future__ import annotations


def _both(path: str, text: str, hole: str, twin: str) -> tuple[str, str, str, str]:
    return path, "skipped", text.replace("@@", hole), text.replace("@@", twin)


_JS = "app.post('/hook', (req, res) => {\n  const sig = req.get('x-signature');\n@@\n  paid(req.body);\n});\n"
_GO = (
    "package a\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n"
    '\tsig := r.Header.Get("X-Signature")\n@@\n\tpaid(r)\n}\n'
)
_PHP = "<?php\n$sig = $_SERVER['HTTP_X_SIGNATURE'] ?? $_GET['signature'] ?? '';\n@@\npaid($body);\n"
_JAVA = (
    'class A {\n  @PostMapping("/hook")\n  ResponseEntity<String> f(@RequestBody String body,\n'
    '      @RequestHeader(name = "X-Signature", required = false) String sig) {\n    @@\n    return paid(body);\n  }\n}\n'
)
_RB = "class AController < ApplicationController\n  def f\n    sig = params[:signature]\n@@\n    paid(params[:body])\n  end\nend\n"
_CS = (
    "class A : ControllerBase {\n  [HttpPost]\n  public IActionResult F([FromQuery] string sig, [FromBody] string body) {\n"
    "    @@\n    return Ok(Paid(body));\n  }\n}\n"
)
_FAIL = "return res.sendStatus(401);"
_NEXT = "function f(req, res, next) {\n  const h = req.headers['x-hub-signature-256'];\n  @@\n  return verify(h) ? next() : next(E);\n}\n"
PAIRS = [
    _both("a.js", _NEXT, "if (!h) return next();", f"if (!h) {_FAIL}"),
    _both("a.js", _NEXT, "if (h === undefined) { return next(); }", "if (h === undefined) { return next(new Error('no')); }"),
    _both("a.js", _JS, f"if (sig && !verify(req.body, sig)) {{ {_FAIL} }}", f"if (!sig || !verify(req.body, sig)) {{ {_FAIL} }}"),
    _both("a.js", _JS, f"if (sig) {{ if (!verify(req.body, sig)) {{ {_FAIL} }} }}", f"if (!sig) {{ {_FAIL} }}\nif (sig && !verify(req.body, sig)) {{ {_FAIL} }}"),
    _both("a.js", _JS, f"if (sig !== undefined && hmac(req.body) !== sig) {{ {_FAIL} }}", f"if (hmac(req.body) !== sig) {{ {_FAIL} }}"),
    _both("a.go", _GO, 'if sig != "" && !verify(body, sig) {\n\t\treturn\n\t}', 'if sig == "" || !verify(body, sig) {\n\t\treturn\n\t}'),
    _both("a.go", _GO, 'if sig != "" {\n\t\tif !hmac.Equal(mac(body), []byte(sig)) {\n\t\t\treturn\n\t\t}\n\t}', 'if sig == "" {\n\t\treturn\n\t}\n\tif !hmac.Equal(mac(body), []byte(sig)) {\n\t\treturn\n\t}'),
    _both("a.php", _PHP, "if ($sig && !hash_equals(sign($body), $sig)) { exit; }", "if (!$sig || !hash_equals(sign($body), $sig)) { exit; }"),
    _both("a.php", _PHP, "if (!empty($sig) && !hash_equals(sign($body), $sig)) { die('no'); }", "if (empty($sig)) { die('no'); }\nif (!empty($sig) && !hash_equals(sign($body), $sig)) { die('no'); }"),
    _both("A.java", _JAVA, "if (sig != null && !signer.verify(body, sig)) { return forbidden(); }", "if (sig == null || !signer.verify(body, sig)) { return forbidden(); }"),
    _both("A.java", _JAVA, "if (sig != null && !sig.isBlank() && !signer.verify(body, sig)) { throw new E(); }", "if (sig == null || sig.isBlank() || !signer.verify(body, sig)) { throw new E(); }"),
    _both("a.rb", _RB, "    return head(401) if sig && !verified?(sig)", "    return head(401) unless sig && verified?(sig)"),
    _both("a.rb", _RB, "    if sig.present? && !secure_compare(sign(params[:body]), sig)\n      return head(401)\n    end", "    return head(401) if sig.blank? || !secure_compare(sign(params[:body]), sig)"),
    _both("A.cs", _CS, "if (sig != null && !Verify(body, sig)) { return Unauthorized(); }", "if (sig == null || !Verify(body, sig)) { return Unauthorized(); }"),
    _both("A.cs", _CS, "if (!string.IsNullOrEmpty(sig) && !Verify(body, sig)) { return Unauthorized(); }", "if (string.IsNullOrEmpty(sig)) { return Unauthorized(); }\nif (!Verify(body, sig)) { return Unauthorized(); }"),
]  # fmt: skip
