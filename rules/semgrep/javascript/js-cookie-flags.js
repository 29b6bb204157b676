// ruleid: js-cookie-flags
res.cookie("sid", id, { httpOnly: false });
// ruleid: js-cookie-flags
res.cookie("sid", id, { httpOnly: true, secure: false });
// ok: js-cookie-flags
res.cookie("sid", id, { httpOnly: true, secure: true });
