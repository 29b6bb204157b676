import builtins
import importlib
import os

run = getattr(builtins, "ev" + "al")
run("1 + 1")  # HIT[high]
__import__("o" + "s").system("id")  # HIT
globals()["__builtins__"]["ex" + "ec"](text)  # HIT
vars(os)["system"]("id")  # HIT
os.__dict__["popen"]("id")  # HIT
getattr(os, "".join(chr(c) for c in [115, 121, 115, 116, 101, 109]))("id")  # HIT
getattr(os, "metsys"[::-1])("id")  # HIT
importlib.import_module(bytes.fromhex("6f73").decode()).system("id")  # HIT
getattr(__import__("os"), "system")("id")  # HIT


class Loader:
    go = getattr(builtins, "exec")

    def __init__(self, action=getattr(os, "sys" + "tem")):
        action("id")  # HIT
