"""Pages and expressions: what does not escape, what runs code, and beside it what does not."""

from __future__ import annotations


def _both(path: str, rule: str, text: str, hole: str, twin: str) -> tuple[str, str, str, str]:
    return path, rule, text.replace("@@", hole), text.replace("@@", twin)


_GO = (
    'package a\n\nimport (\n\t"net/http"\n\t"@@/template"\n)\n\n'
    'var page = template.Must(template.New("p").Parse(`<p>{{.Name}}</p>`))\n\n'
    "type data struct{ Name string }\n\ntype Server struct{ tmpl *template.Template }\n\n"
)
_H = "(w http.ResponseWriter, r *http.Request) {\n"
_JAVA = 'class A {\n  @GetMapping(value = "/x", produces = "text/html")\n  String f(@RequestParam String n) {\n    @@\n  }\n}\n'
_EL = (
    'class A {\n  @PostMapping("/x")\n  Object f(@RequestParam String n) throws Exception {\n    @@\n  }\n}\n'
)
_RB = "class AController < ApplicationController\n  def f\n    @@\n  end\nend\n"
_CS = "class A : ControllerBase {\n  [HttpGet]\n  public async Task<IActionResult> F([FromQuery] string n) {\n    @@\n  }\n}\n"
_JS = "const vm = require('vm');\napp.get('/x', (req, res) => {\n  res.json(@@);\n});\n"
_MERGE = "@@\napp.patch('/x', (req, res) => { res.json(merge(settings, req.body)); });\n"
_SKIP = "if (k === '__proto__' || k === 'constructor') { continue; }"
_DEEP = [
    "function merge(a, b) { for (const k in b) { @@ if (typeof b[k] === 'object') { a[k] = merge(a[k] || {}, b[k]); } else { a[k] = b[k]; } } return a; }",
    "const merge = (a, b) => { for (const k of Object.keys(b)) { @@ const v = b[k]; if (v && v.constructor === Object) { merge(a[k], v); } else { a[k] = v; } } return a; };",
    "function merge(a, b) { Object.keys(b).forEach((k) => { if (isObject(b[k])) { if (!a[k]) { a[k] = {}; } merge(a[k], b[k]); } else { a[k] = b[k]; } }); return a; @@ }",
]
_UP = "<?php\n$f = $_FILES['f'];\n$types = ['image/png' => 'png'];\n@@\nmove_uploaded_file($f['tmp_name'], 'public/u/' . bin2hex(random_bytes(8)) . '.' . $e);\n"
_MOVE = "<?php\nclass C {\n  public function f(Request $request) {\n    $file = $request->file('a');\n    $file->move('public/a', @@);\n  }\n}\n"
PAIRS = [
    _both("a.php", "upload", _UP, "$e = pathinfo($f['name'], PATHINFO_EXTENSION);", "$e = $types[mime_content_type($f['tmp_name'])];"),
    _both("a.php", "upload", _UP, "$e = strtolower(pathinfo($f['name'], PATHINFO_EXTENSION));", "$e = pathinfo($f['name'], PATHINFO_EXTENSION);\nif (!in_array($e, $types, true)) { exit; }"),
    _both("a.php", "upload", _MOVE, "$file->getClientOriginalName()", "$file->hashName()"),
    *(_both("a.js", "proto", _MERGE, one.replace("@@", ""), one.replace("@@", _SKIP)) for one in _DEEP),
    _both("a.go", "xss", f"{_GO}func h{_H}\tpage.Execute(w, data{{Name: r.FormValue(\"n\")}})\n}}\n", "text", "html"),
    _both("a.go", "xss", f"{_GO}func (s *Server) h{_H}\ts.tmpl.ExecuteTemplate(w, \"p\", r.FormValue(\"n\"))\n}}\n", "text", "html"),
    _both("a.go", "xss", f"{_GO}func h{_H}\tt, err := template.ParseFiles(\"x.html\")\n\tif err != nil {{\n\t\treturn\n\t}}\n\tvar out bytes.Buffer\n\tt.Execute(&out, map[string]string{{\"Name\": r.FormValue(\"n\")}})\n\tout.WriteTo(w)\n}}\n", "text", "html"),
    _both("A.java", "xss", _JAVA, 'StringBuilder b = new StringBuilder(); b.append("<p>").append(n).append("</p>"); return b.toString();',
          'StringBuilder b = new StringBuilder(); b.append("<p>").append(HtmlUtils.htmlEscape(n)).append("</p>"); return b.toString();'),
    _both("A.java", "xss", _JAVA, 'StringBuilder b = new StringBuilder("x"); b.append("<ul><li>"); b.append(n); return b.toString();',
          'StringBuilder b = new StringBuilder("x"); b.append("id: "); b.append(n); return b.toString();'),
    _both("A.java", "xss", _JAVA, 'var b = new StringBuilder(); b.append("<h1>"); for (String s : n.split(",")) { b.append(s); } return b.toString();',
          'var b = new StringBuilder(); b.append("<h1>"); for (String s : n.split(",")) { b.append(Encode.forHtml(s)); } return b.toString();'),
    _both("A.java", "code", _EL, "return new SpelExpressionParser().parseExpression(n).getValue();",
          "return new SpelExpressionParser().parseExpression(n).getValue(SimpleEvaluationContext.forReadOnlyDataBinding().build());"),
    _both("A.java", "code", _EL, "return MVEL.eval(n);", 'return MVEL.eval("a + b", Map.of("a", n));'),
    _both("A.java", "code", _EL, "return Ognl.getValue(n, root);", 'return Ognl.getValue("name", root);'),
    _both("A.java", "code", _EL, "return new JexlBuilder().create().createExpression(n).evaluate(ctx);", 'return Map.of("x", n);'),
    _both("A.java", "code", _EL, "return new GroovyShell().evaluate(n);", 'return new GroovyShell().evaluate("1 + 1");'),
    _both("a.rb", "code", _RB, "instance_eval(params[:n])", "instance_eval('name')"),
    _both("a.rb", "code", _RB, "@user.send(params[:n])", "return head(400) unless %w[name mail].include?(params[:n])\n    @user.send(params[:n])"),
    _both("a.rb", "code", _RB, "render json: User.public_send(params[:n].to_sym)", "render json: User.public_send(:all)"),
    _both("A.cs", "code", _CS, "return Ok(await CSharpScript.EvaluateAsync(n));", 'return Ok(await CSharpScript.EvaluateAsync("1+1"));'),
    _both("a.js", "code", _JS, "vm.runInNewContext(req.query.n)", "vm.runInNewContext('1+1', { n: req.query.n })"),
    _both("a.js", "code", _JS, "new vm.Script(req.body.code).runInThisContext()", "new vm.Script('a').runInThisContext()"),
    _both("a.php", "code", "<?php\n@@\n", "$f = create_function('$a', $_GET['n']);", "$f = create_function('$a', 'return 1;');"),
]  # fmt: skip
