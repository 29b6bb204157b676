import importlib
import os
import sys

fork = getattr(os, "fork", None)
kill = getattr(os, "killpg", None)
if fork:
    fork()
plugin = importlib.import_module(f"plugins.{name}")
handler = getattr(plugin, "run")
handler()
value = globals()["settings"]
compat = getattr(os, "getuid", lambda: 0)()
main = sys.modules["__main__"]
