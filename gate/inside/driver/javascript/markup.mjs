// Whether a word became markup of a page: the name of a tag or of an attribute. A small tokenizer in the order of the
// HTML standard's states: text, tags with their attributes, comments, elements whose content is text. Trusted.
const RAW = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"]);
const LETTER = /[a-z]/i;
const SPACE = /\s/;

/** What the word is in that page, in words; empty where it is text, a comment or a value. */
export function markupOf(page, word) {
  const name = word.toLowerCase();
  for (let at = 0; at < page.length; ) {
    const open = page.indexOf("<", at);
    if (open < 0) return "";
    if (page.startsWith("<!--", open)) {
      const end = page.indexOf("-->", open + 4);
      if (end < 0) return "";
      at = end + 3;
      continue;
    }
    if (!LETTER.test(page[open + 1] ?? "")) {
      at = open + 1;
      continue;
    }
    const tag = read(page, open + 1);
    if (tag.name === name) return `the answer has a tag <${word}>`;
    if (tag.attributes.includes(name)) return `the answer has an attribute ${word} in <${tag.name}>`;
    at = tag.end;
    if (RAW.has(tag.name)) {
      const end = page.toLowerCase().indexOf(`</${tag.name}`, at);
      if (end < 0) return "";
      at = end;
    }
  }
  return "";
}

/** One tag from its name on: {name, attributes, end}. */
function read(page, from) {
  let at = from;
  const until = (stop) => {
    const start = at;
    while (at < page.length && !stop.test(page[at])) at += 1;
    return page.slice(start, at).toLowerCase();
  };
  const name = until(/[\s/>]/);
  const attributes = [];
  while (at < page.length && page[at] !== ">") {
    if (SPACE.test(page[at]) || page[at] === "/") {
      at += 1;
      continue;
    }
    const own = page[at] === "=" ? page[at++] : "";
    attributes.push(own + until(/[\s/>=]/));
    while (SPACE.test(page[at] ?? "")) at += 1;
    if (page[at] !== "=") continue;
    at += 1;
    while (SPACE.test(page[at] ?? "")) at += 1;
    const quote = page[at];
    if (quote === '"' || quote === "'") {
      const end = page.indexOf(quote, at + 1);
      at = end < 0 ? page.length : end + 1;
    } else until(/[\s>]/);
  }
  return { name, attributes, end: at + 1 };
}
