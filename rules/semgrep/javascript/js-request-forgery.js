// ruleid: js-request-forgery
axios.get(req.query.url);
const u = "http://" + req.body.host;
// ruleid: js-request-forgery
fetch(u);
// ok: js-request-forgery
fetch("https://api.example/users/" + encodeURIComponent(req.query.name));
// ok: js-request-forgery
axios.post("https://api.example", req.body);
// ok: js-request-forgery
fetch(`https://api.example/users/${req.params.id}`);
