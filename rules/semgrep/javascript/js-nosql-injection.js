// ruleid: js-nosql-injection
User.findOne({ name: req.body.name, password: req.body.password });
// ruleid: js-nosql-injection
User.find(req.query);
// ok: js-nosql-injection
User.findOne({ name: String(req.body.name) });
// ok: js-nosql-injection
list.find((x) => x.id === 1);
