// Prisma's client, which a project's own generator makes from its schema and nobody has here: models that answer with
// one row, and statements that are heard. Trusted, no packages of ours.
import fs from "node:fs";
import path from "node:path";
import { packagesOf, replace, resolved } from "./packages.mjs";

const ROW = { id: 3, name: "gate", email: "gate@example.invalid", count: 1 };
const RAW = ["$queryRaw", "$executeRaw", "$queryRawUnsafe", "$executeRawUnsafe"];

/** A template's text with a place for each value; of a statement that `Prisma.sql` made its own. */
function textOf(first, values) {
  if (typeof first === "string") return first;
  const inner = (value) => (value?.[PARTS] ? textOf(value[PARTS], value.values) : "?");
  const parts = first?.[PARTS] ?? first ?? [];
  const all = first?.[PARTS] ? first.values : values;
  return [...parts].reduce((text, part, n) => text + (n ? inner(all[n - 1]) : "") + part, "");
}

const PARTS = Symbol("parts");
const made = (parts, values) => ({ [PARTS]: parts, values, strings: parts });

/** Put it in the package's place, where the project's own was not generated. Before the module is imported. */
export function stand(file, note) {
  const at = resolved(file, "@prisma/client");
  if (!at) return;
  if (isGenerated(at)) return void listen(packagesOf(file)("@prisma/client")?.PrismaClient, note);
  class PrismaClient {
    constructor() {
      return new Proxy(this, { get: (one, name) => (name in one || typeof name === "symbol" || name === "then" ? one[name] : model()) });
    }
    $connect = async () => {};
    $disconnect = async () => {};
    $on() {}
    $use() {}
    $extends() {
      return this;
    }
    $transaction = async (work) => (typeof work === "function" ? work(this) : Promise.all(work));
  }
  for (const name of RAW) {
    PrismaClient.prototype[name] = async function (first, ...values) {
      note(textOf(first, values));
      return name.startsWith("$query") ? [{ ...ROW }] : 1;
    };
  }
  const sql = (parts, ...values) => made(parts, values);
  const Prisma = {
    sql,
    raw: (text) => made([String(text)], []),
    join: (list, sign = ",") => made(["", ...list.slice(1).map(() => sign), ""], list),
    empty: made([""], []),
    ModelName: {},
    PrismaClientKnownRequestError: class extends Error {},
    PrismaClientValidationError: class extends Error {},
    validator: () => (value) => value,
  };
  replace(at, { PrismaClient, Prisma, default: { PrismaClient, Prisma } });
}

/** Has the project's generator been run? The package alone has a stub that throws. */
function isGenerated(at) {
  try {
    const made = path.resolve(path.dirname(at), "../../.prisma/client/default.js"); // beside the package's scope
    return !fs.readFileSync(made, "utf8").includes("did not initialize yet");
  } catch {
    return false;
  }
}

function listen(Client, note) {
  for (const name of RAW) {
    const real = Client?.prototype?.[name];
    if (typeof real !== "function") continue;
    Client.prototype[name] = function (first, ...values) {
      note(textOf(first, values));
      return real.call(this, first, ...values);
    };
  }
}

/** A model: what finds one gives a row with what was asked for, what finds many a list. */
function model() {
  return new Proxy({}, {
    get: (_, name) => async (given) => {
      const row = { ...ROW, ...plain(given?.where), ...plain(given?.data), ...plain(given?.create) };
      if (name === "findMany" || name === "groupBy") return [row];
      if (name === "count") return 1;
      if (/Many/.test(String(name))) return { count: 1 };
      return row;
    },
  });
}

const plain = (object) => Object.fromEntries(Object.entries(object ?? {}).filter(([, value]) => value === null || typeof value !== "object"));
