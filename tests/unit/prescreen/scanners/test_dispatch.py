"""Calls by a computed name that nothing bounds, and those that a list, a table or a beginning bounds."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.dispatch import DispatchByName
from tests.prescreen_support import make_request


def told(path: str, head: str, base: str = "\n") -> list[str]:
    found = DispatchByName().scan(make_request({path: head}, {path: base})).findings
    return [f.message.split()[1] for f in found]


GO = "package a\n\nfunc h(s *S, w string) {\n\t%s\n}\n"
JAVA = "class A { Object h(Object s, String w) throws Exception {\n  return %s;\n} }\n"
CSHARP = "class A { object H(object s, string w) {\n  return %s;\n} }\n"
HOSTILE = [
    ("a.go", GO % "reflect.ValueOf(s).MethodByName(camel(w)).Call(nil)"),
    ("a.go", "package a\n\nfunc h(file string) {\n\tp, _ := plugin.Open(file)\n\tp.Lookup(\"Run\")\n}\n"),
    ("A.java", JAVA % "s.getClass().getMethod(w).invoke(s)"),
    ("A.java", JAVA % "Class.forName(w).newInstance()"),
    ("a.kt", "fun h(s: Any, w: String): Any {\n  return s.javaClass.getMethod(w).invoke(s)\n}\n"),
    ("a.cs", CSHARP % "s.GetType().GetMethod(w).Invoke(s, null)"),
    ("a.cs", CSHARP % "Activator.CreateInstance(Type.GetType(w))"),
    ("a.rb", "def h(s, w)\n  s.public_send(w.tr('-', '_'))\nend\n"),
    ("a.rb", "def h(w)\n  Object.const_get(w).new\nend\n"),
    ("a.rb", "def h(w)\n  w.camelize.constantize.new\nend\n"),
    ("a.php", "<?php\nfunction h($s, $w) {\n  return $s->$w();\n}\n"),
    ("a.php", "<?php\nfunction h($w) {\n  return new $w();\n}\n"),
    ("a.php", "<?php\nfunction h($w, $x) {\n  return call_user_func($w, $x);\n}\n"),
    ("a.js", "export function h(store, words) {\n  return store[camel(words[0])](words[1]);\n}\n"),
    ("a.js", "const read = async (path) => (await import(toUrl(path))).default;\n"),
    ("a.ts", "export function h(this: A, word: string) {\n  const run = this[word];\n  return run(1);\n}\n"),
    ("a.js", "module.exports = (folder) => readdirSync(folder).map((n) => require(join(folder, n)));\n"),
    ("a.py", "def h(s, w):\n    return getattr(s, w.replace('-', '_'))()\n"),
    ("a.py", "def h(s, w):\n    run = getattr(s, w, None)\n    return run(1)\n"),
    ("a.py", "import importlib\n\ndef h(w):\n    return importlib.import_module(w).run()\n"),
    ("a.py", "def h(w):\n    return globals()[w]()\n"),
    ("a.rs", "fn h(path: &str) {\n    let l = unsafe { libloading::Library::new(path) };\n}\n"),
]  # fmt: skip
HOSTILE += [
    (
        "a.go",
        GO
        % "v := reflect.ValueOf(s)\n\tfor i := 0; i < v.NumMethod(); i++ {\n\t\tv.Method(i).Call(nil)\n\t}",
    ),
    ("A.java", JAVA % "pick(s.getClass().getMethods(), w).invoke(s)"),
    ("a.cs", CSHARP % "s.GetType().GetMethods().First(m => m.Name == w).Invoke(s, null)"),
    (
        "a.py",
        "def h(s, w):\n    for n, fn in inspect.getmembers(s):\n        if n == w:\n            fn()\n",
    ),
    ("a.rb", "def h(s, w)\n  s.method(w).call\nend\n"),
    ("a.js", "const h = (s, w) => Reflect.get(s, w)(1);\n"),
    ("a.js", "const h = (path) => new Worker(path);\n"),
]
HOSTILE += [
    ("a.py", "def h(s, w):\n    return vars(s)[w]()\n"),
    ("a.py", "def h(s, w):\n    return type(s).__dict__[w](s)\n"),
    ("a.py", "import sys\n\ndef h(w):\n    return sys.modules[w].run()\n"),
    ("a.js", "export const h = (s, w) => s[w]?.();\n"),
    ("a.js", "export const h = (s, w, a) => s[w].apply(s, a);\n"),
    ("a.js", "export const h = (s, w) => { const { [w]: run } = s; return run(); };\n"),
    ("a.js", "import * as ops from './ops.js';\nexport const h = (w) => ops[w]();\n"),
    ("a.php", "<?php\nfunction h(string $w) {\n  return $w();\n}\n"),
    ("a.php", "<?php\nfunction h($w) {\n  include $w;\n}\n"),
]
HARMLESS = [
    ("a.php", "<?php\nfunction h($callback) {\n  include __DIR__ . '/x.php';\n  return $callback();\n}\n"),
    ("a.php", "<?php\nfunction h($run) {\n  return $run();\n}\n"),
    ("a.js", "export const h = (v, w) => ({ [w]: v });\nconst f = (o) => o.run.apply(o, []);\n"),
    ("a.go", 'package a\n\nfunc h(s *S) {\n\treflect.ValueOf(s).MethodByName("Get").Call(nil)\n}\n'),
    ("a.go", GO % "if !slices.Contains(known, w) {\n\t\treturn\n\t}\n\tof(s).MethodByName(w).Call(nil)"),
    ("A.java", 'class A { Object h() throws Exception {\n  return Class.forName("org.x.Driver");\n} }\n'),
    ("A.java", "class A { Object h() throws Exception {\n  return Class.forName(DRIVER);\n} }\n"),
    ("a.rb", "def h(s, w)\n  s.public_send(:get)\n  s.send(:\"on_#{w}\")\nend\n"),
    ("a.rb", "def h(s, w)\n  return unless ALLOWED.include?(w)\n  s.public_send(w)\nend\n"),
    ("a.rb", "def h(s)\n  %i[a b].each { |w| 1 }\n  require 'json'\n  YAML.load(text)\nend\n"),
    ("a.php", "<?php\nfunction h($s, $w) {\n  if (!in_array($w, KNOWN)) return;\n  return $s->$w();\n}\n"),
    ("a.js", "const readers = { a, b };\nexport const h = (n) => readers[n](1);\n"),
    ("a.js", "export const h = (items, i) => items[i](1);\nconst m = require('./x');\n"),
    ("a.js", "export const h = (lang) => import(`./locales/${lang}.js`);\n"),
    ("a.js", "export const h = (v) => v[Symbol.iterator]();\n"),
    ("a.py", "def h(s):\n    return getattr(s, 'close')()\n"),
    ("a.py", "def h(s, w):\n    return getattr(s, f'visit_{w}')(1)\n"),
    ("a.py", "def h(s):\n    for w in ('a', 'b'):\n        getattr(s, w)()\n"),
    ("a.py", "def h(s, w):\n    if w not in KNOWN:\n        raise ValueError\n    return getattr(s, w)()\n"),
    ("a.py", "def h(s, w):\n    return getattr(s, w)\n"),
    ("tests/test_a.py", "def h(s, w):\n    return getattr(s, w)()\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "head"), HOSTILE)
def test_whatever_has_the_name_is_called(path: str, head: str) -> None:
    assert len(told(path, head)) == 1


@pytest.mark.parametrize(("path", "head"), HARMLESS)
def test_names_that_somebody_can_enumerate(path: str, head: str) -> None:
    assert told(path, head) == []


def test_what_base_does_as_well() -> None:
    old = "def h(s, w):\n    return getattr(s, w)()\n"
    assert told("a.py", old + "\n\ndef k(s, v):\n    return getattr(s, v)(1)\n", old) == []


def test_a_line_that_a_tool_made_hides_no_line_beside_it() -> None:
    call = "def act(thing, request):\n    return getattr(thing, request.args['name'])()\n"
    assert told("app/a.py", call) != []
    assert told("app/a.py", f"{call}# {'x' * 6_000}\n") == told("app/a.py", call)
    assert told("app/a.py", f"def act(thing, name): return getattr(thing, name)()  # {'x' * 6_000}\n") == []
