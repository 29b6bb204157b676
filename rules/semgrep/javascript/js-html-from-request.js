app.get("/hello", (req, res) => {
  // ruleid: js-html-from-request
  res.send("<b>" + req.query.name + "</b>");
  const page = `<h1>${req.params.title}</h1>`;
  // ruleid: js-html-from-request
  res.status(200).send(page + "<p>");
  // ok: js-html-from-request
  res.send("<b>" + escapeHtml(req.query.name) + "</b>");
  // ok: js-html-from-request
  res.send(req.body);
  // ok: js-html-from-request
  res.json({ name: req.query.name });
});
