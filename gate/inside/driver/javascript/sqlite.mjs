// better-sqlite3 where its binary is missing (no package's script is run): the same interface on node:sqlite. An
// application's own statements run then, in a database in memory where its file cannot be opened.
import { packagesOf, resolved, replace } from "./packages.mjs";

/** Put it in the package's place. Before the module is imported. */
export function stand(file) {
  const at = resolved(file, "better-sqlite3");
  if (!at) return;
  const found = packagesOf(file);
  try {
    new (found("better-sqlite3"))(":memory:").close();
  } catch {
    const sqlite = found("node:sqlite");
    if (sqlite) replace(at, made(sqlite.DatabaseSync));
  }
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
