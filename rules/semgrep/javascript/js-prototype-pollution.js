// ruleid: js-prototype-pollution
function merge(a, b) {
  for (const k in b) {
    if (typeof b[k] === "object") merge(a[k], b[k]);
    else a[k] = b[k];
  }
  return a;
}
// ok: js-prototype-pollution
function safe(a, b) {
  for (const k in b) {
    if (k === "__proto__") continue;
    if (typeof b[k] === "object") safe(a[k], b[k]);
    else a[k] = b[k];
  }
}
// ok: js-prototype-pollution
function flat(a, b) {
  for (const k in b) a[k] = b[k];
}
