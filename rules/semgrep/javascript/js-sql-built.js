// ruleid: js-sql-built
db.query("SELECT * FROM users WHERE id = " + id);
// ruleid: js-sql-built
db.all(`DELETE FROM users WHERE name = '${name}'`, done);
// ok: js-sql-built
db.query("SELECT * FROM users WHERE id = ?", [id]);
// ok: js-sql-built
log.get("hello " + name);
