const cp = require("child_process");
app.get("/list", (req, res) => {
  // ruleid: js-command-from-request
  cp.exec(`ls ${req.query.folder}`, done);
  const name = req.body.name;
  // ruleid: js-command-from-request
  cp.spawn(name, ["-l"]);
  // ok: js-command-from-request
  cp.execFile("ls", [req.query.folder]);
  // ok: js-command-from-request
  cp.exec("sleep " + parseInt(req.query.seconds, 10));
  // ok: js-command-from-request
  cp.exec("ls -l");
  // ok: js-command-from-request
  pattern.exec(req.query.word);
});
app.get("/hono", (c) => {
  // ruleid: js-command-from-request
  cp.execSync("tar xf " + c.req.query("file"));
});
