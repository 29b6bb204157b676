// ruleid: js-path-from-request
fs.readFile("files/" + req.query.name, done);
const p = path.join(base, req.params.file);
// ruleid: js-path-from-request
res.sendFile(p);
// ok: js-path-from-request
fs.readFile("files/" + path.basename(req.query.name), done);
// ok: js-path-from-request
fs.readFileSync(config);
