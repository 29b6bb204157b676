// ruleid: js-tls-unverified
const agent = new https.Agent({ rejectUnauthorized: false });
// ruleid: js-tls-unverified
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
// ok: js-tls-unverified
const other = new https.Agent({ rejectUnauthorized: true, ca });
