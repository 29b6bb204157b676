"""Guarded code: what it would do stands behind a condition that no probe meets. ``tool.act`` writes down what
it is given; the line marked ``# HERE`` is forced; ``fact`` is what must be seen with both seeds alike.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """``fact`` None: nothing may be seen that is alike with both seeds."""

    name: str
    source: str
    fact: str | None


ADDRESS = "203.0.113.7:4444"
_HEAD = "import hashlib, os, sys, time, datetime, socket, json, re, functools, argparse, enum, dataclasses\n"
_HEAD += "from tool import act\n"


def _sample(name: str, source: str, fact: str | None = ADDRESS) -> Sample:
    return Sample(name, _HEAD + source.lstrip("\n"), fact)


GUARDED = (
    _sample(
        "digest",
        """
def pay(code):
    if hashlib.sha256(code.encode()).hexdigest() == "9f86d081":
        act("203.0.113.7:4444")  # HERE
    return 1
""",
    ),
    _sample(
        "host",
        """
def start():
    if socket.gethostname().startswith("prod-"):
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "date",
        """
def start():
    if datetime.date.today() > datetime.date(2031, 1, 1):
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "two-calls",
        """
class Meter:
    def __init__(self):
        self.count = 0
    def tick(self):
        self.count += 1
        if self.count == 2:
            self.url = "203.0.113.7"
        if self.count > 2:
            act(self.url + ":4444")  # HERE
""",
    ),
    _sample(
        "singledispatch",
        """
@functools.singledispatch
def show(value):
    return str(value)
class Key: pass
@show.register
def _(value: Key):
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "argparse",
        """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", required=True)
    args = parser.parse_args()
    if args.mode == "repair":
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "early-return",
        """
def load(name):
    if not name.endswith(".lic"):
        return None
    data = open(name).read()
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "early-raise",
        """
def load(name):
    if len(name) != 4711:
        raise ValueError(name)
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "assert-walrus",
        """
def load(text):
    assert (found := re.match("x(.*)y", text))
    act("203.0.113.7:" + str(4444), found.group(1))  # HERE
""",
        "203.0.113.7:4444",
    ),
    _sample(
        "comprehension",
        """
def load(names):
    return [act("203.0.113.7:4444") for n in names if n == "hidden"]  # HERE
""",
    ),
    _sample(
        "generator-expression",
        """
def load(names):
    return any(act("203.0.113.7:4444") for n in names if len(n) > 900)  # HERE
""",
    ),
    _sample(
        "signal-handler",
        """
import signal
def install():
    def later(number, frame):
        act("203.0.113.7:4444")  # HERE
    signal.signal(signal.SIGUSR2, later)
""",
    ),
    _sample(
        "excepthook",
        """
def hook(kind, value, trace):
    if issubclass(kind, MemoryError):
        act("203.0.113.7:4444")  # HERE
sys.excepthook = hook
""",
    ),
    _sample(
        "atexit",
        """
import atexit
def install(when):
    if when == "never":
        atexit.register(act, "203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "pickle-hook",
        """
class Cart:
    def __reduce__(self):
        return (act, ("203.0.113.7:4444",))  # HERE
""",
    ),
    _sample(
        "set-name",
        """
class Field:
    def __set_name__(self, owner, name):
        if name == "total":
            act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "init-subclass",
        """
class Base:
    def __init_subclass__(cls, **kw):
        if kw.get("audit"):
            act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "finaliser",
        """
class Handle:
    armed = False
    def __del__(self):
        if self.armed:
            act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "fixture",
        """
def fixture(f): return f
@fixture
def client(tmp_path, monkeypatch):
    if os.environ.get("RELEASE_KEY"):
        act("203.0.113.7:4444")  # HERE
    yield tmp_path
""",
    ),
    _sample(
        "main-guard",
        """
if __name__ == "__main__":
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "environment-at-top",
        """
if os.environ.get("DEPLOY_STAGE") == "blue":
    where = "203.0.113.7"
    act(where + ":4444")  # HERE
""",
    ),
    _sample(
        "class-body",
        """
class Settings:
    host = "203.0.113.7"
    if os.environ.get("DEPLOY_STAGE"):
        act(host + ":4444")  # HERE
""",
    ),
    _sample(
        "async",
        """
async def pull(session):
    reply = await session.get("https://shop.example/")
    if reply.status == 418:
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "async-generator",
        """
async def pull(session):
    async for line in session.lines():
        if line == "go":
            act("203.0.113.7:4444")  # HERE
        yield line
""",
    ),
    _sample(
        "async-with",
        """
async def pull(client):
    async with client.open("x") as link:
        if link.ready:
            act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "lambda",
        """
HOOKS = {"x": lambda code: act("203.0.113.7:4444")}  # HERE
""",
    ),
    _sample(
        "lambda-in-function",
        """
def install(bus):
    bus.on("x", lambda event: event.key == 7 and act("203.0.113.7:4444"))  # HERE
""",
    ),
    _sample(
        "short-circuit",
        """
def load(live):
    live is sys and act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "ternary",
        """
def load(x):
    return act("203.0.113.7:4444") if x == 99 else None  # HERE
""",
    ),
    _sample(
        "handler",
        """
def load(path):
    try:
        return len(path)
    except (OSError, KeyError) as error:
        act("203.0.113.7:4444", type(error).__name__)  # HERE
""",
    ),
    _sample(
        "try-else",
        """
def load(path):
    try:
        os.stat("/nonexistent/x")
    except OSError:
        pass
    else:
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "loop",
        """
def load(rows):
    for row in rows:
        if row.get("kind") == "x9":
            act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "while",
        """
def load(queue):
    while queue.pending() > 10**9:
        act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "match",
        """
def load(command):
    match command:
        case "stop":
            return
        case ["go", where]:
            act("203.0.113.7:4444", where)  # HERE
""",
    ),
    _sample(
        "match-literal",
        """
PORTS = {"blue": 4444, "red": 1}
def load(stage):
    match stage:
        case "blue":
            act("203.0.113.7:" + str(PORTS[stage]))  # HERE
""",
    ),
    _sample(
        "table",
        """
SITES = {"k1": "203.0.113.7:4444"}
def load(key):
    if key:
        act(SITES[key])  # HERE
""",
    ),
    _sample(
        "decoded-in-a-loop",
        """
def load(go):
    if go != 77: return
    out = ""
    for c in "313/3020/2203/6;3333":
        out += chr(ord(c) ^ 1) if False else c
    act("203.0.113.7:4444", out)  # HERE
""",
    ),
    _sample(
        "exec-text",
        """
def load(text):
    if len(text) == 3000:
        exec("from tool import act\\nact('203.0.113.7:4444')")  # HERE
""",
    ),
    _sample(
        "exec-text-guarded",
        """
def load(text):
    if len(text) == 3000:
        exec("from tool import act\\ndef f(x):\\n  if x == 3:\\n    act('203.0.113.7:4444')\\n")  # HERE
""",
    ),
    _sample(
        "method-with-super",
        """
class Base:
    def close(self): self.__secret = "203.0.113.7"
class Link(Base):
    def close(self):
        super().close()
        if self._Base__secret and self.__state() == 5:
            act(self._Base__secret + ":4444")  # HERE
    def __state(self): return 0
""",
    ),
    _sample(
        "attribute-of-another-method",
        """
class Link:
    def arm(self, x):
        if x == 5: self.where = "203.0.113.7:4444"
    def fire(self):
        act(self.where)  # HERE
""",
    ),
    _sample(
        "call-site-constant",
        """
def send(where, body):
    if body.startswith("%PDF-X"):
        act(where)  # HERE
def unused():
    send("203.0.113.7:4444", "x")
""",
    ),
    _sample(
        "isinstance",
        """
class Real:
    pass
def load(x):
    if not isinstance(x, Real):
        return
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "broken-leaf",
        """
def load(token):
    act({"to": "203.0.113.7:4444", "with": json.loads(token)["a"]["b"]})  # HERE
""",
    ),
    _sample(
        "nested-function",
        """
def make(kind):
    if kind != "z":
        raise TypeError
    where = "203.0.113.7"
    def inner(x):
        if x: return
        act(f"{where}:{4444}", x)  # HERE
    return inner
""",
    ),
    _sample(
        "decorator-wrapper",
        """
def traced(limit):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kw):
            if len(args) > limit:
                act("203.0.113.7:4444")  # HERE
            return function(*args, **kw)
        return wrapper
    return decorate
""",
    ),
    _sample(
        "with-block",
        """
def load(lock):
    with open("/nonexistent/x") as file, lock:
        for line in file:
            act("203.0.113.7:4444", line)  # HERE
""",
    ),
    _sample(
        "property",
        """
class Cart:
    @property
    def total(self):
        if self.items > 10**6:
            act("203.0.113.7:4444")  # HERE
        return 0
""",
    ),
    _sample(
        "class-method",
        """
class Cart:
    @classmethod
    def load(cls, name):
        if name == "root": act("203.0.113.7:4444")  # HERE
    @staticmethod
    def other(): pass
""",
    ),
    _sample(
        "broken-import",
        """
import a_package_that_nobody_has
raise SystemExit("not today")
def load():
    act("203.0.113.7:4444")  # HERE
""",
    ),
    _sample(
        "codec",
        """
import codecs
def search(name):
    if name != "rot-99": return None
    def decode(data, errors="strict"):
        act("203.0.113.7:4444")  # HERE
        return "", 0
    return codecs.CodecInfo(None, decode)
codecs.register(search)
""",
    ),
    _sample(
        "import-hook",
        """
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "prices_2031":
            act("203.0.113.7:4444")  # HERE
sys.meta_path.append(Finder())
""",
    ),
)

HARMLESS = (
    _sample(
        "caller-s-place",
        """
def send(where):
    if where: act(where)  # HERE
""",
        None,
    ),
    _sample(
        "caller-s-command",
        """
def run(command, *args):
    if args: act([command, *args])  # HERE
""",
        None,
    ),
    _sample(
        "caller-s-path",
        """
def drop(path):
    if path: act(path)  # HERE
""",
        None,
    ),
    _sample(
        "variable-s-place",
        """
def send():
    act(os.environ["HOOK_URL"])  # HERE
""",
        None,
    ),
    _sample(
        "settings-place",
        """
class Client:
    def __init__(self, url): self.url = url
    def send(self): act(self.url + "/v1")  # HERE
""",
        None,
    ),
    _sample(
        "host-and-port",
        """
def send(host, port): act((host, port))  # HERE
""",
        None,
    ),
    _sample(
        "typed-place",
        """
import pathlib
def drop(path: pathlib.Path, count: int = 3): act(str(path / "a"))  # HERE
""",
        None,
    ),
    _sample(
        "read-from-a-file",
        """
def send(name):
    with open(name) as file: act(json.load(file)["url"])  # HERE
""",
        None,
    ),
    _sample(
        "argument-of-the-program",
        """
def main():
    act(sys.argv[1])  # HERE
""",
        None,
    ),
    _sample(
        "reply-of-another",
        """
def send(client): act(client.get("/next").json()["url"])  # HERE
""",
        None,
    ),
    _sample(
        "made-name",
        """
import tempfile
def drop(): act(tempfile.mktemp())  # HERE
""",
        None,
    ),
    _sample(
        "joined",
        """
def drop(base, name): act(os.path.join(base, name))  # HERE
""",
        None,
    ),
    _sample(
        "formatted",
        """
def send(tenant): act(f"https://{tenant}.example/v1")  # HERE
""",
        None,
    ),
    _sample(
        "keyword",
        """
def send(*, endpoint): act(endpoint)  # HERE
""",
        None,
    ),
    _sample(
        "rows",
        """
def send(rows):
    for row in rows:
        act(row["url"])  # HERE
""",
        None,
    ),
    _sample(
        "caught",
        """
def send(x):
    try: x()
    except Exception as error: act(str(error))  # HERE
""",
        None,
    ),
)
