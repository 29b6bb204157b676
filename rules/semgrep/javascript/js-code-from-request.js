app.post("/run", async (req, res) => {
  // ruleid: js-code-from-request
  eval(req.body.code);
  const text = req.query.expression;
  // ruleid: js-code-from-request
  const f = new Function("a", `return ${text}`);
  const body = await request.json();
  // ruleid: js-code-from-request
  vm.runInNewContext(body.script, {});
  // ok: js-code-from-request
  eval("1 + 1");
  // ok: js-code-from-request
  JSON.parse(req.body.code);
});
