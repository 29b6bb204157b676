// ruleid: js-jwt-unverified
jwt.verify(token, key, { algorithms: ["HS256", "none"] });
// ruleid: js-jwt-unverified
jwt.verify(token, "", {});
// ok: js-jwt-unverified
jwt.verify(token, key, { algorithms: ["HS256"] });
