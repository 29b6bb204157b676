// What stands around an attacked program: a user who is signed in, services that answer, programs that are watched.
// Nothing of it answers where the attack asks whether a request is let in without a credential (`bare`). Trusted.
import childProcess from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import Module from "node:module";
import { isOwner, ownersIn } from "./names.mjs";
import { started } from "./folders.mjs";
import { arrived, listen as listenToFiles } from "./sinks.mjs";
import { packagesOf } from "./packages.mjs";

/** Read by the hooks: marks of the attempt that runs, whether it is bare, programs and objects that were met. */
export const now = { sent: undefined, aside: 0, hit: false, near: false, word: "", met: false, making: false, marks: [], weakness: "", bare: false, away: 0, started: [], objects: new Map(), collect: false, databases: new Set() };

const NAMES = ["gate", "other"];
/** Two users with different values in whatever says whose an object is. */
export function usersOf(tree) {
  const owners = ownersIn(tree);
  const pairs = [...owners].filter(([, values]) => values.size > 1);
  const ids = pairs.length ? [...pairs[0][1]] : [1, 2];
  return [0, 1].map((n) => {
    const known = Object.fromEntries([...owners].map(([name, values]) => [name, [...values][n] ?? ids[n]]));
    return { credential: `gate-session-${n + 1}`, ...known, id: ids[n], sub: ids[n], name: NAMES[n], username: NAMES[n], email: `${NAMES[n]}@example.invalid` };
  });
}

function plainOf(users, text) {
  const user = users.find((one) => !one.signed && (one.credential === text || text === `Bearer ${one.credential}`));
  if (!user) return undefined;
  const { credential, ...rest } = user;
  return rest;
}

/** Before the module is imported. */
export function stand(file, users, fields) {
  const { get, has } = Map.prototype;
  // A store of sessions that only a log-in fills: the attack's user has signed in.
  Map.prototype.get = function (key) {
    const value = get.call(this, key);
    if (now.collect) note([value]);
    return value === undefined && !now.bare && typeof key === "string" ? plainOf(users, key) : value;
  };
  Map.prototype.has = function (key) {
    return has.call(this, key) || (!now.bare && typeof key === "string" && plainOf(users, key) !== undefined);
  };
  for (const name of ["find", "filter", "some", "findIndex"]) {
    const real = Array.prototype[name];
    Object.defineProperty(Array.prototype, name, {
      value(...words) {
        if (now.collect) note(this);
        return real.apply(this, words);
      },
      configurable: true, writable: true, enumerable: false,
    });
  }
  const { values } = Map.prototype;
  Map.prototype.values = function () {
    if (now.collect) note([...values.call(this)].slice(0, 50));
    return values.call(this);
  };
  const jwt = packagesOf(file)("jsonwebtoken");
  const verify = jwt?.verify;
  if (typeof verify === "function") {
    jwt.verify = function (token, ...rest) {
      const user = now.bare ? undefined : plainOf(users, String(token));
      if (!user) return verify.call(this, token, ...rest);
      const back = rest.find((one) => typeof one === "function");
      return back ? queueMicrotask(() => back(null, user)) : user;
    };
  }
  services(fields);
  listenToFiles(now);
  programs();
}

/** Services of others answer whatever is asked of them; what holds a mark goes its way, where it is seen. */
function services(fields) {
  for (const at of [http, https]) {
    for (const name of ["request", "get"]) {
      const plain = at[name];
      at[name] = function (...words) {
        const [url] = words;
        const host = url?.host ?? url?.hostname;
        const to = url instanceof URL || typeof url === "string" ? String(url) : host ? `http://${host}${url.port && !String(host).includes(":") ? `:${url.port}` : ""}${url.path ?? "/"}` : "";
        if (to) arrived("request-forgery", to, now);
        return plain.apply(this, words);
      };
    }
  }
  Module.syncBuiltinESMExports?.();
  const real = globalThis.fetch;
  if (typeof real !== "function") return;
  globalThis.fetch = async function (input, init) {
    const url = String(input?.url ?? input);
    arrived("request-forgery", url, now);
    now.away += 1;
    now.sent?.(init?.body ?? "");
    if (now.marks.some((mark) => url.toLowerCase().includes(mark))) return real(input, init);
    new URL(url);
    const answer = new Response("{}", { status: 200, headers: { "content-type": "application/json" } });
    Object.defineProperty(answer, "json", { value: async () => fields() });
    return answer;
  };
}

/** Programs and their arguments, as [file, words, by a shell]. */
function programs() {
  const keep = (file, words, shell, folder) => {
    if (now.making) started(file, [...(words ?? [])].map(String), folder);
    // Other programs open files and connections, too.
    if (words?.some?.((one) => now.marks.some((mark) => String(one).toLowerCase().includes(mark)))) now.near = true;
    if (now.word && words?.some?.((one) => String(one).includes(now.word))) now.met = true;
    if (shell) arrived("command", [...(words ?? [])].join(" "), now);
    return now.started.length < 50 && now.started.push([String(file), [...(words ?? [])].map(String), Boolean(shell)]);
  };
  const { spawn } = childProcess.ChildProcess.prototype;
  childProcess.ChildProcess.prototype.spawn = function (options) {
    keep(options?.file, options?.args?.slice(1), /(?:^|\/)(?:ba|da|z)?sh$/.test(options?.file ?? ""), options?.cwd);
    return spawn.call(this, options);
  };
  for (const name of ["spawnSync", "execFileSync"]) {
    const real = childProcess[name];
    childProcess[name] = function (file, words, options) {
      keep(file, Array.isArray(words) ? words : [], (Array.isArray(words) ? options : words)?.shell, (Array.isArray(words) ? options : words)?.cwd);
      return real.call(this, file, words, options);
    };
  }
  const { execSync } = childProcess;
  childProcess.execSync = function (line, options) {
    keep("/bin/sh", ["-c", line], true, options?.cwd);
    return execSync.call(this, line, options);
  };
  Module.syncBuiltinESMExports?.();
}

const FLAG = /^(?:-[qvlars]|-la|-rf|--[\w-]+=.*|--(?:no-[\w-]+|quiet|silent|verbose|bare|mirror|recursive|force|oneline|porcelain|json|all|single-branch|stat|name-only|fail|location))$/;
const ONE = /^(?:-[nbCcm]|--(?:depth|max-count|branch|author|since|until))$/; // of git: a value follows

/** Are the words in front of it such that it is no option's value? What takes two values, or none, nobody knows. */
function isPlace(file, words) {
  for (let at = 0; at < words.length; at++) {
    if (!/^[-+]/.test(words[at])) continue;
    if (/(?:^|\/)git$/.test(file) && ONE.test(words[at]) && at + 1 < words.length) at += 1;
    else if (!FLAG.test(words[at])) return false;
  }
  return true;
}

const OWN_SCRIPT = /(?:^|\/)(?:node|deno|bun|python[\d.]*|echo|printf)$/;
/** The option that a program was given in place of a value; empty where none was. */
export function optionOf(word) {
  for (const [file, words, shell] of now.started) {
    if (shell || OWN_SCRIPT.test(file)) continue;
    const end = words.indexOf("--");
    // At its beginning: behind `--grep=` it is that option's value.
    const at = words.findIndex((one) => /^-/.test(one) && one.replace(/^-+/, "").startsWith(word));
    if (at < 0 || (end >= 0 && end < at)) continue;
    if (!isPlace(file, words.slice(0, at))) continue;
    return `${file} is given ${words[at].slice(0, 60)} as an option`;
  }
  return "";
}

// -- objects that belong to somebody ------------------------------------------------------------------
const ID = /^(?:id|_id|uuid|key|slug|number|ref|code)$/i;
function note(list) {
  const before = now.collect;
  now.collect = false;
  try {
    let left = 100;
    for (const one of list) {
      if ((left -= 1) < 0 || now.objects.size > 300) return;
      if (one === null || typeof one !== "object" || Array.isArray(one)) continue;
      const names = Object.keys(one);
      const owner = names.reduce((found, name) => found ?? (isOwner(name) ? name : undefined), undefined);
      const id = names.reduce((found, name) => found ?? (ID.test(name) ? name : undefined), undefined);
      if (owner && id && one[owner] !== null && one[owner] !== undefined) {
        now.objects.set(`${one[id]}|${one[owner]}`, { id: one[id], owner: one[owner], by: owner, object: one });
      }
    }
  } catch {
    // getters of others
  } finally {
    now.collect = before;
  }
}

/** Rows of the program's own databases, too. */
export function rowsOfDatabases(prepare) {
  for (const database of now.databases) {
    try {
      const tables = prepare.call(database, "SELECT name FROM sqlite_master WHERE type = 'table'").all();
      for (const { name } of tables.slice(0, 20)) {
        note(prepare.call(database, `SELECT * FROM "${String(name).replaceAll('"', '""')}" LIMIT 50`).all());
      }
    } catch {
      // closed, or none of SQLite's
    }
  }
}

/** Lay out what an attempt's payload names, and only that: most attempts need no file. */
export function layOut(job, mark, weakness) {
  try {
    if (weakness === "command" || weakness === "code") fs.writeFileSync(mark.PROGRAM, '#!/bin/sh\n: > "$0.ran"\n', { mode: 0o755 });
    else if (weakness.startsWith("path-")) {
      fs.writeFileSync(mark.DECOY, `decoy ${mark.WORD}\n`);
      fs.mkdirSync(`${job.outside}/${mark.WORD}.d`, { recursive: true });
    }
  } catch {
    // what cannot be laid out proves nothing
  }
}
