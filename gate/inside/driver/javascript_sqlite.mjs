// better-sqlite3 where its binary is missing (no package's script is run): the same interface on node:sqlite. An
// application's own statements run then, in a database in memory where its file cannot be opened.
import Module from "node:module";

/** Put it in the package's place. Before the module is imported. */
export function stand(file) {
  const ask = Module.createRequire(file);
  let at;
  let sqlite;
  try {
    at = ask.resolve("better-sqlite3"); // where it is nowhere, nobody is asked to stand in for it
    new (ask("better-sqlite3"))(":memory:").close();
    return;
  } catch {
    if (!at) return;
  }
  try {
    sqlite = ask("node:sqlite");
  } catch {
    return;
  }
  const Database = made(sqlite.DatabaseSync);
  ask.cache[at] = Object.assign(ask.cache[at] ?? new Module(at), { exports: Database, loaded: true });
  (globalThis[Symbol.for("gate.wrapped")] ??= new Set()).add(at);
}

function made(Real) {
  function opened(name) {
    try {
      return new Real(name);
    } catch {
      return new Real(":memory:"); // in a folder that only a deployment has
    }
  }
  class Statement {
    constructor(statement) {
      this.statement = statement;
    }
    run(...values) {
      const { changes, lastInsertRowid } = this.statement.run(...flat(values));
      return { changes, lastInsertRowid };
    }
    get = (...values) => this.statement.get(...flat(values));
    all = (...values) => this.statement.all(...flat(values));
    iterate = (...values) => this.statement.iterate(...flat(values));
    pluck = () => new Proxy(this, { get: (one, name) => (/^(?:get|all)$/.test(name) ? (...values) => first(one[name](...values)) : one[name]) });
    raw = () => this;
    expand = () => this;
    safeIntegers = () => this;
    bind = () => this;
  }
  return class Database {
    constructor(name = ":memory:") {
      this.name = String(name);
      this.open = true;
      this.real = opened(this.name || ":memory:");
    }
    prepare = (text) => new Statement(this.real.prepare(text));
    exec(text) {
      this.real.exec(text);
      return this;
    }
    pragma(text) {
      return this.real.prepare(`PRAGMA ${text}`).all();
    }
    transaction(work) {
      const run = (...words) => {
        this.real.exec("SAVEPOINT gate");
        try {
          const end = work(...words);
          this.real.exec("RELEASE gate");
          return end;
        } catch (error) {
          this.real.exec("ROLLBACK TO gate; RELEASE gate");
          throw error;
        }
      };
      return Object.assign(run, { deferred: run, immediate: run, exclusive: run });
    }
    function() {
      return this;
    }
    aggregate() {
      return this;
    }
    close() {
      this.open = false;
      this.real.close();
    }
  };
}

/** Values as node:sqlite takes them: a list as one by one, an object by name. */
const flat = (values) => (values.length === 1 && Array.isArray(values[0]) ? values[0] : values);
const first = (told) => (Array.isArray(told) ? told.map(first) : told && Object.values(told)[0]);
