// ruleid: js-regex-from-request
const r = new RegExp(req.query.q, "i");
// ok: js-regex-from-request
const s = new RegExp(escapeRegExp(req.query.q));
