// Starts the program as a deployment does: the file that listens is imported, so that applications stand there with the
// stores, plugins and settings that it gives them. Nothing really listens. What files of the tree hold at their top is
// kept, for accounts that an operator makes (operator.mjs). Trusted.
import fs from "node:fs";
import Module from "node:module";
import net from "node:net";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const { rewriting } = globalThis.Deno ? { rewriting: {} } : await import("./hooks.mjs");
const LISTENS = /\.listen\s*\(|\bserve\s*\(|\bBun\.serve\b/;
const TEST = /(?:^|\/)(?:tests?|__tests__|spec|bench\w*|examples?|e2e)\/|\.(?:test|spec)\.\w+$/;
const SPECIFIER = /(?:\bfrom|\bimport|\brequire)[\s(]*["'](\.{1,2}\/[^"'\n]{1,200})["']/g;
const TOP = /^(?:export\s+)?(?:(?:const|let|var|class)\s+|(?:async\s+)?function\s*\*?\s*)([A-Za-z_$][\w$]*)/gm;
const ENDS = ["", ".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", "/index.ts", "/index.js"];
const WORDS = /^(?:extends|implements|enum|default|async|await|function|class|new|of|in|from|let|static|yield)$/;
const KEEPER = "__gate_kept__";
const WAIT = 1500; // milliseconds, until an application is there
const PORT = 3000;
const top = process.cwd();
const kept = [];

/** Have every module of the tree tell what stands at its top. Before the attacked one is imported. */
export function keep() {
  Object.defineProperty(globalThis, KEEPER, { value: (get) => kept.length < 200 && kept.push(get), enumerable: false });
  rewriting.keep = (code) => {
    const names = [...new Set([...code.matchAll(TOP)].map(([, name]) => name))].filter((name) => !WORDS.test(name)).slice(0, 60);
    if (!names.length) return code;
    const told = names.map((name) => `[${JSON.stringify(name)}, () => ${name}]`).join(", ");
    return `${code}\n;globalThis.${KEEPER}?.([${told}]);\n`;
  };
  // What `require` loads, Node compiles by itself.
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (code, file, ...rest) {
    const own = typeof code === "string" && String(file).startsWith(top + path.sep) && !String(file).includes("/node_modules/") && !code.includes(KEEPER);
    return compile.call(this, own ? rewriting.keep(code) : code, file, ...rest);
  };
}

/** What stands at the top of modules that were loaded, as [name, value]. */
export function* bindings() {
  for (const list of kept) {
    for (const [name, get] of list) {
      try {
        yield [name, get()];
      } catch {
        // not there yet, or of a module that was ended
      }
    }
  }
}

function fileOf(name, files) {
  const bare = name.replace(/\.[cm]?js$/, "");
  return [name, bare].flatMap((start) => ENDS.map((end) => start + end)).find((one) => files.has(one));
}

/** Does that program lead to the file by what it imports? */
function leadsTo(program, file, files) {
  const seen = new Set([program]);
  for (const one of seen) {
    if (one === file) return true;
    for (const [, name] of (files.get(one) ?? "").matchAll(SPECIFIER)) {
      const found = fileOf(path.resolve(path.dirname(one), name), files);
      if (found) seen.add(found);
    }
  }
  return false;
}

/** The file that a deployment starts and that leads to this one; undefined where no text says so. `files`: programs of
 * the tree with their texts. */
export function programOf(file, files) {
  let started = "";
  try {
    const said = JSON.parse(fs.readFileSync(path.join(top, "package.json"), "utf8"));
    started = `${said.scripts?.start ?? ""} ${said.scripts?.dev ?? ""}`;
  } catch {
    // no project
  }
  const listening = [...files].filter(([one, code]) => one !== file && LISTENS.test(code) && !TEST.test(path.relative(top, one))).map(([one]) => one);
  const isStarted = (one) => Number(started.includes(path.relative(top, one).replace(/\.\w+$/, "")));
  return listening.sort((a, b) => isStarted(b) - isStarted(a) || a.length - b.length).find((one) => leadsTo(one, file, files));
}

/** A note of this attack's, that this program was asked to the end: another file of its application needs no second look.
 * `job` is the attack's. */
export function noteOf(job, program) {
  const name = `asked-${process.ppid}-${job.generous ? "base" : "head"}-${path.relative(top, program).replace(/\W/g, "_").slice(0, 80)}`;
  return path.join(path.dirname(job.outside), name);
}

/** Import it, and wait until `isThere` says that there is an application. */
export async function start(program, isThere, bounded) {
  const { listen, address } = net.Server.prototype;
  net.Server.prototype.listen = function (...words) {
    const back = words.find((word) => typeof word === "function");
    if (back) this.once("listening", back);
    this.address = () => ({ address: "127.0.0.1", family: "IPv4", port: PORT });
    queueMicrotask(() => this.emit("listening"));
    return this;
  };
  const { argv } = process;
  process.argv = [argv[0], program];
  try {
    await bounded(import(pathToFileURL(program).href)).catch(() => {}); // what it made until then is there
    for (const until = Date.now() + WAIT; !isThere() && Date.now() < until; ) await new Promise((end) => setImmediate(end));
    await new Promise((end) => setImmediate(end)); // what goes on behind it
  } finally {
    process.argv = argv;
    Object.assign(net.Server.prototype, { listen, address });
  }
}
