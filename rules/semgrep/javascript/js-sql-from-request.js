app.get("/user", (req, res) => {
  // ruleid: js-sql-from-request
  db.query("SELECT * FROM users WHERE name = '" + req.query.name + "'", done);
  const sql = `SELECT * FROM users WHERE id = ${req.params.id}`;
  // ruleid: js-sql-from-request
  pool.query(sql);
  // ruleid: js-sql-from-request
  prisma.$queryRawUnsafe(`SELECT * FROM a WHERE b = '${req.body.b}'`);
  // ok: js-sql-from-request
  db.query("SELECT * FROM users WHERE name = ?", [req.query.name]);
  // ok: js-sql-from-request
  pool.query("SELECT * FROM users WHERE id = " + Number(req.params.id));
  // ok: js-sql-from-request
  collection.all(req.query.names);
});
