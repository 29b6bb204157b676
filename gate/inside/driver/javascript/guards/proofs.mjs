// What may become of a proof that the code under test made itself. Trusted.
import { Buffer } from "node:buffer";

/** Names of functions that make one: `sign` beside `verify`. */
export const MAKES = new RegExp(
  "^(?:sign|seal|issue|make|mint|create|generate|new|encode|dumps|build|pack|encrypt|tokenFor|hash)(?:[A-Z_]|$)",
);

/** A proof that is no longer the one that was made; as in ../../guards/world.py. */
export function changed(proof, how) {
  if (Buffer.isBuffer(proof)) return Buffer.from(changed(proof.toString("latin1"), how), "latin1");
  const text = String(proof);
  const mark = text.includes(".") ? "." : text.includes(":") ? ":" : "";
  const at = mark ? text.lastIndexOf(mark) : 0;
  const swapped = [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
  const made = {
    last: text.slice(0, -1) + (text.at(-1) !== "0" ? "0" : "1"),
    cut: text.slice(0, text.length >> 1),
    "no-end": mark ? text.slice(0, at + 1) : "",
    upper: swapped,
    longer: `${text}x`,
    "first-part": mark ? text.slice(0, text.indexOf(mark)) : text.slice(0, 8),
    reversed: `gate${text.slice(4)}`,
  };
  return made[how] ?? text;
}
