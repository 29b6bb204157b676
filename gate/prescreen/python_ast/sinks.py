"""Shared vocabulary of the AST rules: which calls start processes, reach the network, write files."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from gate.prescreen.python_ast.call_sites import called_function
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.regex import regex
from gate.resources import rules_dir

SHELL_CALLS: Final = (
    "os.system", "os.popen", "os.popen2", "os.popen3", "subprocess.getoutput",
    "subprocess.getstatusoutput", "commands.getoutput", "commands.getstatusoutput",
    "asyncio.create_subprocess_shell", "popen2.popen3", "platform.popen",
)  # fmt: skip
"""Take one text and give it to a shell."""
PROCESS_CALLS: Final = (
    "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "subprocess.Popen", "asyncio.create_subprocess_exec", "pexpect.spawn", "pexpect.run", "pty.spawn",
    "os.execl", "os.execle", "os.execlp", "os.execlpe", "os.execv", "os.execve", "os.execvp",
    "os.execvpe", "os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe", "os.spawnv", "os.spawnve",
    "os.spawnvp", "os.spawnvpe", "os.posix_spawn", "os.posix_spawnp", "os.startfile", "sh.Command",
)  # fmt: skip
"""Start a program from an argument list (or, with ``shell=True``, from a text)."""
CODE_CALLS: Final = ("eval", "exec", "execfile", "compile", "runpy.run_path", "runpy.run_module")
_HTTP: Final = ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")
_CLIENTS: Final = (
    "requests", "httpx", "requests.Session()", "requests.session()", "httpx.Client()",
    "httpx.AsyncClient()", "aiohttp.ClientSession()", "urllib3.PoolManager()",
)  # fmt: skip
HTTP_CALLS: Final = (
    *(f"{client}.{verb}" for client in _CLIENTS for verb in _HTTP),
    *("urllib.request.urlopen", "urllib.request.Request", "urllib.request.urlretrieve", "urllib.urlopen"),
    *("urllib2.urlopen", "urllib2.Request", "urllib3.request"),
    *(
        "tornado.httpclient.AsyncHTTPClient().fetch",
        "tornado.httpclient.HTTPClient().fetch",
        "aiohttp.request",
    ),
    *("pycurl.Curl().setopt", "urllib.request.build_opener().open", "urllib.request.OpenerDirector().open"),
    *("http.client.HTTPConnection().request", "http.client.HTTPSConnection().request"),
)
"""Ask a web server for something."""
SEND_CALLS: Final = (
    *HTTP_CALLS,
    *("socket.socket().connect", "socket.socket().connect_ex", "socket.socket().send"),
    *("socket.socket().sendall", "socket.socket().sendto", "socket.create_connection"),
    *("socket.create_connection().sendall", "socket.create_connection().send"),
    *("smtplib.SMTP().sendmail", "smtplib.SMTP().send_message", "ftplib.FTP().storbinary"),
    *("websocket.create_connection", "websockets.connect", "paramiko.SSHClient().connect"),
)
"""Open a connection or send something over one."""
DELETE_CALLS: Final = ("shutil.rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs")
DANGEROUS: Final = (*SHELL_CALLS, *PROCESS_CALLS, *CODE_CALLS, *SEND_CALLS, *DELETE_CALLS)
DECODERS: Final = frozenset({
    "base64.b64decode", "base64.standard_b64decode", "base64.urlsafe_b64decode", "base64.decodebytes",
    "base64.b32decode", "base64.b16decode", "base64.b85decode", "base64.a85decode",
    "base64.decodestring", "binascii.unhexlify", "binascii.a2b_hex", "binascii.a2b_base64",
    "bytes.fromhex", "bytearray.fromhex", "zlib.decompress", "gzip.decompress", "bz2.decompress",
    "lzma.decompress", "codecs.decode", "marshal.loads", "cryptography.fernet.Fernet().decrypt",
    "zlib.decompressobj().decompress", "chr", "bytes.maketrans",
})  # fmt: skip
"""Turn something unreadable into something else."""
SECRET_WORD: Final = regex(
    r"(?:^|_|\b)(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|secrete|token|api_?key|apikey|private_?key|"
    r"session_?(?:id|key|token)|auth_?(?:key|token|code)|otp|one_?time|nonce|salt|csrf|credentials?|"
    r"access_?key|signing_?key|encryption_?key|reset_?(?:code|link|key)|verification_?code|pin_?code)(?:_|\b|$|\d)",
    re.IGNORECASE,
)
"""A name that says its value is secret."""


def words_of(name: str) -> str:
    """``resetToken`` -> ``reset_Token``: names split so that SECRET_WORD finds its words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def says_secret(name: str) -> bool:
    """True when a name says its value is secret."""
    return bool(SECRET_WORD.search(words_of(name)))


def dangerous_calls(module: Module, nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Call, str]]:
    """Calls below these nodes that start processes, run code, use the network or delete."""
    wanted = frozenset(DANGEROUS)
    for top in nodes:
        for node in module.within(top):
            if isinstance(node, ast.Call):
                for name in module.names_of(node.func):
                    if name in wanted:
                        yield node, name
                        break


def shell_commands(module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Every call that hands a text to a shell, with the text's expression."""
    for call, _ in module.calls(*SHELL_CALLS):
        command = module.arg(call, 0, "command", "cmd", "args")
        if command is not None:
            yield call, command
    for call, _ in module.calls(*PROCESS_CALLS):
        first = module.arg(call, 0, "args", "command", "file", "path")
        if first is None:
            continue
        if module.is_true(module.arg(call, None, "shell")):
            if isinstance(first, ast.List | ast.Tuple) and first.elts:
                first = first.elts[0]
            yield call, first
            continue
        words = word_list(module, first)
        items = [*words.elts] if words is not None else [*call.args]
        texts = [module.text_of(item) for item in items[:4]]
        for index, text in enumerate(texts[:-1]):
            shell = (texts[0] or "").rsplit("/", 1)[-1]
            if text in ("-c", "-lc", "-ic", "/c", "-Command") and shell in _SHELLS:
                yield call, items[index + 1]
                break


def word_list(module: Module, first: ast.expr) -> ast.List | ast.Tuple | None:
    """The list of words of a process call: written there, or under a name that nothing changes."""
    if isinstance(first, ast.Name):
        bindings = module.bindings_of(first)
        once = len(bindings) == 1 and bindings[0].kind == "assign" and first.id not in module.changed_names
        first = bindings[0].value if once and bindings[0].value is not None else first
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):  # [program] + options
        first = first.left
    if isinstance(first, ast.Call):
        function = called_function(module, first)
        ends = module.returns_of(function) if function is not None else []
        first = ends[0] if len(ends) == 1 else first
    return first if isinstance(first, ast.List | ast.Tuple) else None


_SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"}
)


def command_text(module: Module, call: ast.Call) -> str:
    """The constant parts of the command a process call runs, joined by blanks."""
    parts: list[str] = []
    for item in call.args[:8]:
        elements = item.elts if isinstance(item, ast.List | ast.Tuple) else [item]
        for element in elements[:64]:
            for node in [
                element,
                *(ast.iter_child_nodes(element) if isinstance(element, ast.JoinedStr | ast.BinOp) else ()),
            ]:
                text = module.text_of(node)
                if text:
                    parts.append(text)
                    break
            else:
                if isinstance(element, ast.JoinedStr):
                    parts.extend(str(v.value) for v in element.values if isinstance(v, ast.Constant))
    return " ".join(parts)


def all_commands(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """Every process call with the constant text of its command."""
    for call, _ in module.calls(*SHELL_CALLS, *PROCESS_CALLS):
        text = command_text(module, call)
        if text:
            yield call, text


@cache
def sensitive_paths() -> dict[str, tuple[tuple[str, re.Pattern[str]], ...]]:
    """The groups of rules/sensitive-paths.toml: group -> (what it is, pattern of a whole path)."""
    with (rules_dir() / "sensitive-paths.toml").open("rb") as file:
        data = tomllib.load(file)
    return {
        group: tuple((entry["what"], re.compile(entry["pattern"])) for entry in entries)
        for group, entries in data.items()
    }


def match_path(group: str, text: str) -> str | None:
    """What kind of sensitive path a text is, or None. Only texts that are a path as a whole count."""
    if not text or len(text) > 200 or "\n" in text:
        return None
    for what, pattern in sensitive_paths()[group]:
        if pattern.search(text):
            return what
    return None


def opens_for_writing(module: Module, call: ast.Call, name: str) -> bool:
    """True when a call of ``open`` or of a path's, with a mode that changes the file."""
    mode = module.arg(call, 0 if name.startswith("pathlib") else 1, "mode")
    return any(c in (module.text_of(mode) or "") for c in "wax+")


def path_texts(module: Module, expr: ast.AST) -> Iterator[str]:
    """Constant texts a path expression is made of, joined where ``join`` or ``/`` puts them together."""
    whole = module.text_of(expr)
    if whole is not None:
        yield whole
        return
    flow = Flow(module)
    for node in flow.trace(expr).nodes:
        text = module.text_of(node)
        if text is not None:
            yield text
        elif isinstance(node, ast.Call | ast.BinOp | ast.JoinedStr):
            yield joined_path(module, node)


def joined_path(module: Module, node: ast.AST) -> str:
    """``os.path.join(home, '.ssh', 'id_rsa')`` -> ``~/.ssh/id_rsa``: unknown pieces become ``~``."""
    parts: list[str] = []
    if isinstance(node, ast.Call):
        last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if last not in ("join", "joinpath", "Path", "PurePath", "expanduser"):
            return ""
        owner = [node.func.value] if last == "joinpath" and isinstance(node.func, ast.Attribute) else []
        parts = [module.text_of(item) or "~" for item in [*owner, *node.args]]
    elif isinstance(node, ast.BinOp):
        stack: list[ast.expr] = [node]
        while stack and len(parts) < 20:
            item = stack.pop()
            if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Div | ast.Add):
                stack.extend([item.right, item.left])
            else:
                parts.append(module.text_of(item) or "~")
        if isinstance(node.op, ast.Add):
            return "".join(parts)
    elif isinstance(node, ast.JoinedStr):
        return "".join(module.text_of(v) or "~" for v in node.values)
    return "/".join(part.strip("/") if i else part.rstrip("/") for i, part in enumerate(parts))
