// ruleid: js-weak-hash
const a = crypto.createHash("md5").update(password).digest("hex");
// ruleid: js-weak-hash
const b = crypto.createHash("sha1").update(user.apiKey, "utf8").digest();
// ok: js-weak-hash
const c = crypto.createHash("md5").update(fileContent).digest("hex");
// ok: js-weak-hash
const d = crypto.createHash("sha256").update(token).digest("hex");
