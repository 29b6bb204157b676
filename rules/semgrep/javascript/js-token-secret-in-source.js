// ruleid: js-token-secret-in-source
jwt.sign({ id }, "my-secret");
// ruleid: js-token-secret-in-source
app.use(session({ secret: "keyboard cat", resave: false }));
// ok: js-token-secret-in-source
jwt.sign({ id }, process.env.JWT_SECRET);
