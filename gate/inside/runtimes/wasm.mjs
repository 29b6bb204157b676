// Runs one Python script as WebAssembly: deno run ... /opt/gate/runtimes/wasm.mjs SCRIPT [ARGUMENT ...], or -c CODE.
// Everything that is needed is read first; then the last permission is given back, and only then does the
// script run. What it may do after that is what Deno lets a program without any permission do.
import { loadPyodide } from "/opt/wasm/pyodide/pyodide.mjs";

const HOME = "/opt/wasm/pyodide/";
const TREE = Deno.cwd();
const MAX_FILE = 64 << 20;

const making = Deno.args[0] === "--make-snapshot";
const options = { indexURL: HOME, env: { HOME: "/home/dev", LANG: "C.UTF-8", USER: "dev" } };
if (making) {
  const fresh = await loadPyodide({ ...options, _makeSnapshot: true });
  Deno.writeFileSync(Deno.args[1], fresh.makeMemorySnapshot());
  Deno.exit(0);
}
let snapshot;
try {
  snapshot = Deno.readFileSync("/opt/wasm/snapshot.bin");
} catch {
  snapshot = undefined; // slower, but the same
}
const python = await loadPyodide(snapshot ? { ...options, _loadSnapshot: snapshot } : options);

function write(stream) {
  return {
    write(bytes) {
      let sent = 0;
      while (sent < bytes.length) sent += stream.writeSync(bytes.subarray(sent));
      return bytes.length;
    },
  };
}
python.setStdin({ stdin: () => null });
python.setStdout(write(Deno.stdout));
python.setStderr(write(Deno.stderr));

function copy(from, to) {
  python.FS.mkdirTree(to);
  for (const entry of Deno.readDirSync(from)) {
    const source = `${from}/${entry.name}`;
    const target = `${to}/${entry.name}`;
    if (entry.isDirectory) copy(source, target);
    else if (entry.isSymlink) python.FS.symlink(Deno.readLinkSync(source), target);
    else if (Deno.statSync(source).size <= MAX_FILE) python.FS.writeFile(target, Deno.readFileSync(source));
  }
}
copy(TREE, "/tree");
python.FS.chdir("/tree");

for (const name of ["read", "write", "net", "env", "run", "ffi", "sys", "import"]) {
  const left = Deno.permissions.revokeSync({ name });
  if (left.state === "granted") {
    console.error(`wasm: the permission ${name} could not be given back`);
    Deno.exit(70);
  }
}

python.globals.set("_words", python.toPy(Deno.args));
const code = await python.runPythonAsync(`
def _run(words):
    import sys, traceback
    sys.argv = list(words)
    scope = {"__name__": "__main__", "__builtins__": __builtins__}
    try:
        if words[0] == "-c":
            text, name = words[1], "<string>"
            sys.argv = ["-c", *words[2:]]
        else:
            name = words[0]
            sys.path.insert(0, "/tree")
            with open(name, "rb") as file:
                text = file.read()
            scope["__file__"] = name
        exec(compile(text, name, "exec"), scope)
        return 0
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
_run(_words.to_py() if hasattr(_words, "to_py") else _words)
`);
Deno.exit(code & 255);
