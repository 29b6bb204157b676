// ruleid: js-template-injection
ejs.render("<p>" + req.query.name + "</p>");
// ok: js-template-injection
ejs.render("<p><%= name %></p>", { name: req.query.name });
