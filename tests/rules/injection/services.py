"""Calls into another file through a class, an object that is held, a module: by name what the twin's file
holds instead of the hole's. The caller stands first.
"""

from __future__ import annotations

JAVA_CALLER = (
    "package app;\n@RestController\nclass A {{\n  {field}\n  record Ask(String text) {{}}\n"
    '  @PostMapping("/x")\n  String f(@RequestBody Ask ask) {{\n    return {call};\n  }}\n}}\n'
)
SPEL = (
    "package app;\nclass Rules implements Matcher {{\n  ExpressionParser parser = new SpelExpressionParser();\n"
    "  {static}boolean matches(String text) {{\n    EvaluationContext c = {context};\n"
    "    return new SpelExpressionParser().parseExpression(text).getValue(c, Boolean.class);\n  }}\n}}\n"
)
OPEN, CLOSED = "new StandardEvaluationContext()", "SimpleEvaluationContext.forReadOnlyDataBinding().build()"
RESTORE = "<?php\nnamespace Shop;\nfinal class Basket {{\n  public {static}function restore($raw) {{\n    return {call};\n  }}\n}}\n"
OBJECTS, DATA = "unserialize($raw)", "json_decode($raw, true)"
GO_STORE = (
    'package web\n\nimport (\n\t"database/sql"\n)\n\ntype Store struct{{ db *sql.DB }}\n\n'
    "func (s *Store) Get(n string) (*sql.Rows, error) {{\n\treturn s.db.Query({query})\n}}\n"
)
GLUED, BOUND = '"select * from t where n = \'" + n + "\'"', '"select * from t where n = $1", n'
CS_STORE = (
    "class UserStore : IUserStore {{\n  public object Find(string n) {{\n"
    "    var c = new SqlCommand({query}, conn);\n    return c.ExecuteReader();\n  }}\n}}\n"
)
RB_STORE = "module Shop\n  class Lookup\n    def self.fetch(name)\n      {call}\n    end\n    def read(name)\n      {call}\n    end\n  end\nend\n"


def _java(field: str, call: str, static: str = "") -> tuple[dict[str, str], dict[str, str], str]:
    caller = JAVA_CALLER.format(field=field, call=call)
    hole = SPEL.format(static=static, context=OPEN)
    twin = SPEL.format(static=static, context=CLOSED)
    return {"app/A.java": caller, "app/Rules.java": hole}, {"app/Rules.java": twin}, "flow.dynamic-code"


def _php(caller: str, static: str = "static ") -> tuple[dict[str, str], dict[str, str], str]:
    hole, twin = (RESTORE.format(static=static, call=one) for one in (OBJECTS, DATA))
    return (
        {"public/i.php": caller, "src/Basket.php": hole},
        {"src/Basket.php": twin},
        "flow.unsafe-deserialisation",
    )


def _go(caller: str) -> tuple[dict[str, str], dict[str, str], str]:
    hole, twin = (GO_STORE.format(query=one) for one in (GLUED, BOUND))
    return {"web/h.go": caller, "web/store.go": hole}, {"web/store.go": twin}, "flow.sql-built"


def _csharp(caller: str) -> tuple[dict[str, str], dict[str, str], str]:
    hole = CS_STORE.format(query='"select * from u where n = \'" + n + "\'"')
    twin = CS_STORE.format(query='"select * from u where n = @n"')
    return {"Web/A.cs": caller, "Web/UserStore.cs": hole}, {"Web/UserStore.cs": twin}, "flow.sql-built"


def _ruby(caller: str) -> tuple[dict[str, str], dict[str, str], str]:
    hole, twin = (
        RB_STORE.format(call=one)
        for one in ('File.read("/data/#{name}")', 'File.read("/data/#{File.basename(name)}")')
    )
    return (
        {"app/controllers/a.rb": caller, "lib/shop/lookup.rb": hole},
        {"lib/shop/lookup.rb": twin},
        "flow.path-from-request",
    )


_GO_HEAD = 'package web\n\nimport "net/http"\n\n'
_CS_BODY = (
    "  [HttpGet]\n  public IActionResult F([FromQuery] string n) {{\n    return Ok({call});\n  }}\n}}\n"
)
FEEDS = (
    "package app;\nclass FeedParser {{\n  public Document parse(String text) throws Exception {{\n"
    "    DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();\n    {setting}\n"
    "    return f.newDocumentBuilder().parse(new ByteArrayInputStream(text.getBytes()));\n  }}\n}}\n"
)
CLOSED_XML = 'f.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);'


def _own_parser() -> tuple[dict[str, str], dict[str, str], str]:
    caller = JAVA_CALLER.format(field="private final FeedParser parser;", call="parser.parse(ask.text())")
    hole, twin = (FEEDS.format(setting=one) for one in ("", CLOSED_XML))
    return (
        {"app/A.java": caller, "app/FeedParser.java": hole},
        {"app/FeedParser.java": twin},
        "flow.xml-external",
    )


SERVICES = {
    "java class of the project's own that is called as a library's": _own_parser(),
    "java field by interface": _java("private final Rules rules;", "String.valueOf(rules.matches(ask.text()))"),
    "java constructor": _java(
        "private final Rules rules;\n  A(Rules rules) { this.rules = rules; }", "\"\" + this.rules.matches(ask.text())"
    ),
    "java static": _java("", '"" + Rules.matches(ask.text())', "static "),
    "java made here": _java("", '"" + new Rules().matches(ask.text())'),
    "php use": _php("<?php\nuse Shop\\Basket;\n$b = Basket::restore($_COOKIE['b']);\n"),
    "php use as": _php("<?php\nuse Shop\\Basket as Kept;\n$b = Kept::restore($_COOKIE['b'] ?? null);\n"),
    "php namespace": _php("<?php\n$b = \\Shop\\Basket::restore(base64_decode($_COOKIE['b']));\n"),
    "php use group": _php("<?php\nuse Shop\\{Basket, Catalog};\n$b = Basket::restore($_COOKIE['b']);\n"),
    "php held": _php(
        "<?php\nclass P {\n  private Basket $basket;\n  public function f(Request $request) {\n"
        "    return $this->basket->restore($request->cookie('b'));\n  }\n}\n", ""
    ),
    "php made": _php("<?php\nuse Shop\\Basket;\n$b = (new Basket())->restore($_COOKIE['b']);\n", ""),
    "go field": _go(
        f"{_GO_HEAD}type Server struct{{ store *Store }}\n\n"
        "func (s *Server) list(w http.ResponseWriter, r *http.Request) {\n\ts.store.Get(r.FormValue(\"n\"))\n}\n"
    ),
    "go parameter": _go(
        f"{_GO_HEAD}func list(store *Store) http.HandlerFunc {{\n"
        "\treturn func(w http.ResponseWriter, r *http.Request) {\n\t\tstore.Get(r.FormValue(\"n\"))\n\t}\n}\n"
    ),
    "go made": _go(
        f"{_GO_HEAD}func list(w http.ResponseWriter, r *http.Request) {{\n"
        "\tkept := &Store{db: db}\n\tkept.Get(r.URL.Query().Get(\"n\"))\n}\n"
    ),
    "csharp field": _csharp(
        "class A : ControllerBase {\n  private readonly IUserStore _users;\n"
        "  public A(IUserStore users) { _users = users; }\n" + _CS_BODY.format(call="_users.Find(n)")
    ),
    "csharp primary constructor": _csharp(
        "class A(IUserStore users) : ControllerBase {\n" + _CS_BODY.format(call="users.Find(n)")
    ),
    "csharp made": _csharp("class A : ControllerBase {\n" + _CS_BODY.format(call="new UserStore().Find(n)")),
    "ruby module": _ruby("class AController\n  def f\n    render plain: Shop::Lookup.fetch(params[:n])\n  end\nend\n"),
    "ruby made": _ruby("class AController\n  def f\n    render plain: Shop::Lookup.new.read(params[:n])\n  end\nend\n"),
    "ruby held": _ruby(
        "class AController\n  def initialize\n    @lookup = Shop::Lookup.new\n  end\n"
        "  def f\n    render plain: @lookup.read(params[:n])\n  end\nend\n"
    ),
}  # fmt: skip
"""Files with the hole, those of the twin that differ, the rule."""
