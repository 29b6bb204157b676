"""Ways around RestrictedPython's rules, one script each: all must be refused. Check id -> script."""

from __future__ import annotations

from typing import Final

ATTEMPTS: Final[dict[str, str]] = {
    "restricted.command.import": "import os",
    "restricted.command.system": "__import__('os').system('id')",
    "restricted.command.exec": "exec('import os')",
    "restricted.command.eval": "eval('1+1')",
    "restricted.privilege.subclasses": "().__class__.__base__.__subclasses__()",
    "restricted.privilege.getattr": "getattr(getattr((), '__class__'), '__base__')",
    "restricted.privilege.format": "assert '{0.__class__}'.format(1) == \"<class 'int'>\"",
    "restricted.privilege.format-map": "assert '{x.__class__}'.format_map({'x': 1})",
    "restricted.privilege.generator-frame": "g = (g.gi_frame.f_back.f_back for _ in [1])\nassert [x for x in g][0]",
    "restricted.privilege.traceback-frame": "try:\n    1/0\nexcept ZeroDivisionError as e:\n    assert e.__traceback__.tb_frame",
    "restricted.privilege.try-star": "try:\n    raise ExceptionGroup('x', [ValueError()])\nexcept* ValueError:\n    pass",
    "restricted.privilege.builtins": "__builtins__['__import__']",
    "restricted.privilege.string-module": "string.Formatter().get_field('a.__class__', (), {'a': 1})",
    "restricted.privilege.write-attribute": "class A: pass\nstr.x = 1",
    "restricted.privilege.underscore": "_getattr_ = lambda o, n: 1",
    "restricted.privilege.type": "type('X', (object,), {})",
    "restricted.privilege.match": "match 1:\n    case int(real=x):\n        pass",
    "restricted.privilege.async": "async def f(): pass\nf().cr_frame",
    "restricted.network.socket": "import socket\nsocket.create_connection(('192.0.2.1', 80))",
    "restricted.leak.open": "open('/etc/passwd').read()",
    "restricted.leak.globals": "globals()",
    "restricted.leak.vars": "vars()",
    "restricted.write.open": "open('/tmp/x', 'w')",
    "restricted.technology.sys": "import sys\nsys.modules",
}
"""A script that comes to its end has got what it wanted."""
