// ruleid: js-open-redirect
res.redirect(req.query.next);
// ok: js-open-redirect
res.redirect("/home");
