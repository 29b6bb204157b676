// What conditions an attacked program gives to MongoDB and to what asks like it: mongodb and mongoose answered without a
// server, NeDB as it is. An operator that a payload brought is in the condition: the input was read as a query. Trusted.
import { packagesOf } from "./packages.mjs";

const MOST = 200;
const ROW = { _id: "000000000000000000000003", id: "3", name: "gate", email: "gate@example.invalid", count: 1 };
const ASKS = ["find", "findOne", "findOneAndUpdate", "findOneAndDelete", "findOneAndReplace", "updateOne", "updateMany", "replaceOne", "deleteOne", "deleteMany", "countDocuments", "count", "distinct", "remove", "update", "findAsync", "findOneAsync", "updateAsync", "removeAsync", "countAsync"];
/** Conditions since the last `forget`. */
const conditions = [];
export const forget = () => (conditions.length = 0);

function note(condition) {
  if (condition !== null && typeof condition === "object" && conditions.length < MOST) conditions.push(condition);
}

/** Listen to the drivers that a file finds. Before it is imported. */
export function listen(file) {
  const found = packagesOf(file);
  mongodb(found("mongodb"));
  const mongoose = found("mongoose");
  ofMongoose(mongoose?.default ?? mongoose);
  for (const name of ["nedb-promises", "nedb", "@seald-io/nedb"]) {
    const kind = found(name);
    asIs((kind?.default ?? kind)?.prototype);
  }
}

function asIs(at) {
  for (const name of ASKS) {
    const real = at?.[name];
    if (typeof real !== "function") continue;
    at[name] = function (...words) {
      note(words[name === "distinct" ? 1 : 0]);
      return real.apply(this, words);
    };
  }
}

/** A cursor that has one row, whatever it is asked to do first. */
function cursor(row) {
  const rows = [row];
  const self = new Proxy({}, {
    get(_, name) {
      if (name === "then") return undefined;
      if (name === Symbol.asyncIterator) return async function* () { yield* rows; };
      if (name === "toArray") return async () => rows;
      if (name === "next" || name === "tryNext") return async () => rows[0];
      if (name === "hasNext") return async () => true;
      if (name === "count") return async () => 1;
      if (name === "forEach") return async (act) => rows.forEach(act);
      return () => self;
    },
  });
  return self;
}

function mongodb(all) {
  const at = all?.Collection?.prototype;
  if (!at) return;
  const told = { acknowledged: true, matchedCount: 1, modifiedCount: 1, deletedCount: 1, insertedId: ROW._id, insertedIds: [ROW._id] };
  for (const name of [...ASKS, "insertOne", "insertMany", "bulkWrite", "aggregate", "createIndex"]) {
    if (typeof at[name] !== "function") continue;
    at[name] = function (...words) {
      if (!/^(?:insert|bulk|create)/.test(name)) note(words[name === "distinct" ? 1 : 0]);
      if (name === "find" || name === "aggregate") return cursor({ ...ROW });
      if (name.startsWith("findOne")) return Promise.resolve({ ...ROW });
      if (/^count/.test(name)) return Promise.resolve(1);
      return Promise.resolve(name === "distinct" ? ["gate"] : told);
    };
  }
  if (all.MongoClient) all.MongoClient.prototype.connect = async function () {
    return this;
  };
}

/** Conditions as the schema has made them: a text stays no operator where it says so. */
function ofMongoose(all) {
  const at = all?.Query?.prototype;
  if (typeof at?.exec !== "function") return;
  at.exec = async function () {
    if (typeof this._castConditions === "function") this._castConditions();
    const failed = typeof this.error === "function" ? this.error() : undefined;
    if (failed) throw failed;
    note(this.getFilter?.() ?? this._conditions);
    const { op = "find" } = this;
    if (/^count|estimated/.test(op)) return 1;
    if (/^(?:update|delete|replace|remove)/.test(op)) return { acknowledged: true, matchedCount: 1, modifiedCount: 1, deletedCount: 1 };
    const row = hydrated(this.model, this.mongooseOptions?.().lean);
    return op === "find" ? [row] : row;
  };
  if (all.Aggregate?.prototype) {
    all.Aggregate.prototype.exec = async function () {
      note(this.pipeline?.());
      return [{ ...ROW }];
    };
  }
  if (all.Model?.prototype) {
    all.Model.prototype.save = async function () {
      await this.validate?.();
      return this;
    };
  }
  for (const on of [all, all.Mongoose?.prototype]) if (typeof on?.connect === "function") on.connect = async () => all;
}

function hydrated(model, lean) {
  const row = {};
  for (const [name, { instance } = {}] of Object.entries(model?.schema?.paths ?? {})) {
    if (name === "_id") row._id = ROW._id;
    else if (instance === "String") row[name] = ROW[name] ?? "gate";
    else if (instance === "Number") row[name] = 1;
  }
  try {
    return lean ? row : model.hydrate(row);
  } catch {
    return row;
  }
}

/** The condition in which an operator has exactly the word; empty where none has it so. */
export function operated(word) {
  const has = (value, depth) => {
    if (value === null || typeof value !== "object" || depth > 6) return false;
    return Object.entries(value).some(([name, inner]) => (name === "$ne" && inner === word) || has(inner, depth + 1));
  };
  const found = conditions.find((one) => has(one, 0));
  if (!found) return "";
  try {
    return JSON.stringify(found).slice(0, 400);
  } catch {
    return `{"$ne":"${word}"}`;
  }
}
