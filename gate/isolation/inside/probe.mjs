// What JavaScript without permissions can reach. Inside a sandbox only; prints one line of answers.
import argumentsOf from "./arguments.json" with { type: "json" };

const answers = [];
const tell = (id, held, tried, happened) =>
  answers.push({ id: `javascript.${id}`, held, tried: String(tried).slice(0, 290), happened: String(happened).slice(0, 290) });

async function attempt(id, tried, action) {
  try {
    const got = await Promise.race([
      action(),
      new Promise((_, no) => setTimeout(() => no(new Error("no answer in 1.5 s")), 1500)),
    ]);
    tell(id, !got, tried, `gave ${String(got).slice(0, 160)}`);
  } catch (error) {
    tell(id, true, tried, `${error.name}: ${String(error.message).split("\n")[0]}`);
  }
}

const flag = argumentsOf.flag;
await attempt("command.deno-command", "Deno.Command('id')", () => new Deno.Command("/usr/bin/id").outputSync().success);
await attempt("command.node-child", "node:child_process", async () => (await import("node:child_process")).execSync("id"));
await attempt("command.worker", "a Worker that inherits permissions", () => new Promise((yes, no) => {
  const code = "postMessage(Deno.readTextFileSync('/etc/passwd'))";
  const worker = new Worker("data:text/javascript," + encodeURIComponent(code), { type: "module" });
  worker.onmessage = (event) => yes(event.data);
  worker.onerror = (event) => { event.preventDefault(); no(new Error(event.message)); };
}));
const names = ["read", "write", "net", "env", "run", "ffi", "sys", "import"];
const states = names.map((name) => [name, Deno.permissions.querySync({ name }).state]);
tell("privilege.permissions", states.every(([, state]) => state !== "granted"), "Deno.permissions.query", states.map((s) => s.join(" ")).join(", "));
await attempt("privilege.request", "Deno.permissions.request", () => names.filter((name) => Deno.permissions.requestSync({ name }).state === "granted").join());
await attempt("privilege.native-code", "Deno.dlopen", () => Deno.dlopen("libc.so.6", { getuid: { parameters: [], result: "u32" } }));
await attempt("privilege.binding", "process.binding('fs')", async () => (await import("node:process")).default.binding("fs").open("/etc/passwd", 0, 0));
await attempt("privilege.prompt", "a question on the terminal", () => prompt("?"));
for (const [id, url] of [["fetch", "http://192.0.2.1/"], ["metadata", "http://169.254.169.254/"], ["private", "http://10.0.0.1/"], ["host", `http://127.0.0.1:${argumentsOf.host_port}/`], ["ipv6", "http://[2001:db8::1]/"]]) {
  await attempt(`network.${id}`, `fetch ${url}`, async () => (await fetch(url)).status);
}
await attempt("network.tcp", "Deno.connect", () => Deno.connect({ hostname: "192.0.2.1", port: 80 }));
await attempt("network.udp", "Deno.listenDatagram", () => Deno.listenDatagram({ port: 0, transport: "udp" }));
await attempt("network.dns", "Deno.resolveDns of a name that carries data", () => Deno.resolveDns("00ff.tunnel.example", "A"));
await attempt("network.websocket", "WebSocket", () => new Promise((yes, no) => { const w = new WebSocket("ws://192.0.2.1/"); w.onopen = () => yes(1); w.onerror = (e) => no(new Error(e.message ?? "refused")); }));
await attempt("network.remote-import", "import of a remote module", () => import("https://deno.land.invalid/x.ts"));
await attempt("network.unix", "Deno.connect to the engine's socket", () => Deno.connect({ transport: "unix", path: "/var/run/docker.sock" }));
await attempt("leak.environment", "Deno.env", () => Object.keys(Deno.env.toObject()).join());
await attempt("leak.node-environment", "node:process env", async () => Object.keys((await import("node:process")).default.env).join());
await attempt("leak.flag-file", "the host's flag file", () => Deno.readTextFileSync(flag));
await attempt("leak.node-fs", "node:fs readFileSync of /etc/passwd", async () => (await import("node:fs")).readFileSync("/etc/passwd", "utf8"));
await attempt("leak.json-import", "import of a file as JSON", async () => (await import(`file://${flag}`, { with: { type: "json" } })).default);
await attempt("leak.proc", "/proc/self/environ", () => Deno.readTextFileSync("/proc/self/environ"));
await attempt("leak.host-name", "Deno.hostname", () => Deno.hostname());
await attempt("leak.os", "node:os userInfo", async () => JSON.stringify((await import("node:os")).userInfo()));
await attempt("leak.memory", "Deno.systemMemoryInfo", () => Deno.systemMemoryInfo().total);
await attempt("write.file", "Deno.writeTextFile to /tmp, /work and the host's folder", () => { for (const p of ["/tmp/x", "/work/x", `${argumentsOf.host_folder}/x`]) Deno.writeTextFileSync(p, "x"); return 1; });
await attempt("write.node", "node:fs writeFileSync", async () => { (await import("node:fs")).writeFileSync("/tmp/x", "x"); return 1; });
await attempt("write.storage", "localStorage that outlives the run", () => { localStorage.setItem("gate", "x"); return localStorage.getItem("gate-before"); });
await attempt("write.symlink", "Deno.symlink", () => { Deno.symlinkSync("/etc/passwd", "/tmp/link"); return 1; });
tell("technology.version", true, "Deno.version, Deno.build", `${JSON.stringify(Deno.version)} ${Deno.build.target}`);
console.log("\n" + JSON.stringify({ answers, at: Date.now() / 1000 }));
Deno.exit(0);
