// Variables of the environment that hold who may log in, where the tree has none: their form by how the text reads
// them. The attacks' own credentials stand in them, as those of a user who signed in. Trusted.
import process from "node:process";
import { identifiersIn } from "./names.mjs";

/** What users of ours log in with. */
export const PASSWORD = "Gate-pass-1!word";

const HELD = /TOKEN|SESSION|USER|ACCOUNT|CREDENTIAL|MEMBER|CLIENT|KEY|SECRET|PASS|AUTH/;
const ONE = /(?:TOKEN|SECRET|KEY|PASS|PASSWORD|PASSPHRASE|CREDENTIAL)$/;
const PHRASE = /PASS(?:WORD|WD|PHRASE)?$/;
const NAME = /(?:USER|USER_?NAME|LOGIN)$/;
const MAIL = /(?:USER|ADMIN|LOGIN|OWNER|ACCOUNT)_?E?MAIL$/;
const PLAIN = /(?:TOKEN|SECRET|KEY|PASS|PASSWORD|PASSPHRASE|CREDENTIAL)S?$/;
const KEPT = /ENCRYPT|CIPHER|AES|PRIVATE|PUBLIC|ADDRESS|URL/; // a value of another form
/** Is a list of JSON names with one text each, a password, by its type or by how it is taken apart? */
function isFlat(code, at, whole) {
  const around = code.slice(Math.max(0, at - 120), at + whole.length + 120);
  if (/Record<\s*string\s*,\s*string\s*>|Map<\s*string\s*,\s*string\s*>/.test(around)) return true;
  const name = /(?:const|let|var)\s+(\w+)[^=\n]{0,80}=\s*JSON\.parse\(\s*$/.exec(code.slice(0, at))?.[1];
  const taken = name && new RegExp(String.raw`\[\s*\w+\s*,\s*(\w+)\s*\]\s+of\s+Object\.entries\(\s*${name}\b`).exec(code)?.[1];
  return Boolean(taken) && /pass|phrase|pwd|secret|pin/i.test(taken);
}

/** Set what holds a log-in, also where a decoy stands in it. `who` are two users, {credential, id, ...}. Before the
 * module is imported. */
export function complete(tree, who) {
  for (const [whole, name] of tree.code.matchAll(/process\.env(?:\.|\[["'])([A-Z][A-Z0-9_]{2,60})\b/g)) {
    const at = tree.code.indexOf(whole);
    if (/JSON\.parse\(\s*$/.test(tree.code.slice(Math.max(0, at - 60), at)) && !/TOKEN|KEY/.test(name) && isFlat(tree.code, at, whole)) {
      process.env[name] = JSON.stringify(Object.fromEntries(who.flatMap(({ username, email }) => [[username, PASSWORD], [email, PASSWORD]])));
      continue;
    }
    if (!(HELD.test(name) || MAIL.test(name)) || KEPT.test(name)) continue; // a decoy may stand in it: nobody who asks has that
    const before = tree.code.slice(Math.max(0, at - 60), at);
    // A list may be taken apart later; what is one by its name, where it is read.
    const near = tree.code.slice(at, at + 400);
    const after = ONE.test(name) ? near.replace(/[;\n](?!\s*[.?)])[\s\S]*$/, "") : near;
    if (/JSON\.parse\(\s*$/.test(before)) {
      const users = who.map(({ credential, ...user }) => [credential, user]);
      const list = /^[^;]{0,60}["'`]\[\]/.test(after);
      process.env[name] = JSON.stringify(list ? users.map(([token, user]) => ({ token, ...user })) : Object.fromEntries(users));
    } else if (/\.split\(\s*["'`],/.test(after)) {
      const sign = /["'`]([=:|])["'`]/.exec(after)?.[1];
      const ids = [...new Set([...identifiersIn(tree).map(String), "gate"])].slice(0, 12);
      process.env[name] = sign ? ids.map((id) => `${id}${sign}${who[0].credential}`).join(",") : who.map((one) => one.credential).join(",");
    } else if (PHRASE.test(name)) process.env[name] = PASSWORD; // with a name of its own, or none: it is sent as one
    else if (NAME.test(name) || MAIL.test(name)) process.env[name] = (MAIL.test(name) ? who[0].email : who[0].username) ?? "gate";
    else if (PLAIN.test(name)) process.env[name] = who[0].credential;
  }
}
