function put(target, path, value) {
  const last = path.pop();
  // ruleid: js-path-pollution
  const place = path.reduce((found, name) => (found[name] ??= {}), target);
  place[last] = value;
}
function set(target, path, value) {
  const names = path.split(".");
  const last = names.pop();
  // ruleid: js-path-pollution
  for (const name of names) {
    target = target[name] ??= {};
  }
  target[last] = value;
}
function old(target, names, value) {
  // ruleid: js-path-pollution
  for (const name of names) {
    target[name] = target[name] || {};
    target = target[name];
  }
  target[names.at(-1)] = value;
}
function safe(target, path, value) {
  if (path.includes("__proto__") || path.includes("constructor")) return;
  // ok: js-path-pollution
  const place = path.reduce((found, name) => (found[name] ??= {}), target);
  place[path.at(-1)] = value;
}
function read(target, path) {
  // ok: js-path-pollution
  return path.reduce((found, name) => found?.[name], target);
}
