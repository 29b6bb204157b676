// What statements an attacked program gives to its database: node:sqlite as it is, pg and mysql2 answered without a
// server. Trusted, no packages of ours. A word of a payload that stands outside of quotes and comments is a part of the
// statement's structure: the input was read as SQL.
import { packagesOf } from "./packages.mjs";
import { stand as standForPrisma } from "./prisma.mjs";
import { now } from "./stands.mjs";

const ROW = { id: 3, name: "gate", email: "gate@example.invalid", count: 1, version: "PostgreSQL 16.0" };
const MOST = 200;
/** Statements since the last `forget`, as {text, escapes}: whether a backslash escapes a quote in that dialect. */
export const statements = [];
export const forget = () => (statements.length = 0);

function note(statement, escapes = false) {
  const text = typeof statement === "string" ? statement : (statement?.text ?? statement?.sql);
  if (typeof text === "string" && statements.length < MOST) statements.push({ text: text.slice(0, 8000), escapes });
}

let real; // node:sqlite's own
/** The engine's own way to ask a database, for looks of ours. */
export const preparing = () => real ?? (() => undefined);

/** Listen to the drivers that a file finds. Before it is imported. */
export function listen(file) {
  const found = packagesOf(file);
  standForPrisma(file, note);
  const sqlite = found("node:sqlite")?.DatabaseSync?.prototype;
  real = sqlite?.prepare;
  before(sqlite, ["exec", "prepare"]);
  const pg = found("pg");
  for (const Kind of [pg?.Client, pg?.Pool]) {
    answer(Kind?.prototype, ["query"], false, { rows: [ROW], rowCount: 1, fields: [] });
    silence(Kind?.prototype, ["connect", "end"], () => new Kind());
  }
  for (const name of ["mysql2", "mysql"]) {
    const mysql = found(name);
    for (const Kind of [mysql?.Connection, mysql?.Pool, mysql?.PoolConnection]) {
      answer(Kind?.prototype, ["query", "execute"], true, [ROW], []);
    }
  }
  for (const Kind of [found("mysql2/promise")?.PromiseConnection, found("mysql2/promise")?.PromisePool]) {
    promise(Kind?.prototype, ["query", "execute"], [[ROW], []]);
  }
}

function before(at, names) {
  for (const name of names) {
    const real = at?.[name];
    if (typeof real !== "function") continue;
    at[name] = function (...words) {
      if (now.databases.size < 10) now.databases.add(this);
      note(words[0]);
      return real.apply(this, words);
    };
  }
}

/** In a driver's place: by the callback where there is one, else by a promise. */
function answer(at, names, escapes, ...told) {
  for (const name of names) {
    if (typeof at?.[name] !== "function") continue;
    at[name] = function (...words) {
      note(words[0], escapes);
      const back = words.find((word) => typeof word === "function");
      if (back) queueMicrotask(() => back(null, ...told));
      else return Promise.resolve(told[0]);
      return undefined;
    };
  }
}

function promise(at, names, told) {
  for (const name of names) {
    if (typeof at?.[name] !== "function") continue;
    at[name] = (...words) => {
      note(words[0], true);
      return Promise.resolve(told);
    };
  }
}

function silence(at, names, made) {
  for (const name of names) {
    if (typeof at?.[name] !== "function") continue;
    at[name] = (back) => {
      const it = Object.assign(made(), { release() {} });
      if (typeof back === "function") return queueMicrotask(() => back(null, it, () => {}));
      return Promise.resolve(it);
    };
  }
}

/** The first statement in which the word stands outside of every literal and comment; empty where none has it so. */
export function structured(word) {
  return statements.find((statement) => bare(statement).includes(word))?.text ?? "";
}

/** The statement without what is quoted or a comment. */
function bare({ text: statement, escapes }) {
  let out = "";
  for (let at = 0; at < statement.length; at++) {
    const c = statement[at];
    if (c === "'" || c === '"' || c === "`") {
      for (at++; at < statement.length; at++) {
        if (escapes && statement[at] === "\\") at++;
        else if (statement[at] === c && statement[at + 1] === c) at++;
        else if (statement[at] === c) break;
      }
      out += "?";
    } else if (statement.startsWith("--", at)) {
      while (at + 1 < statement.length && statement[at + 1] !== "\n") at++;
    } else if (statement.startsWith("/*", at)) {
      const end = statement.indexOf("*/", at + 2);
      at = end < 0 ? statement.length : end + 1;
    } else out += c;
  }
  return out;
}
