// Applications of Hono: each that is made is kept, also where no module exports it, and which of them became a part of
// another. Trusted, no packages of ours.
import fs from "node:fs";
import path from "node:path";
import { replace, resolved } from "./packages.mjs";

const mounted = new WeakSet();
/** Is that application a part of another, which has its routes, too? */
export const isMounted = (app) => mounted.has(app);

/** The file of the package that an import, not `require`, leads to. */
function imported(file) {
  const required = resolved(file, "hono");
  if (!required) return undefined;
  for (let folder = path.dirname(required); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    try {
      const said = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
      if (said.name !== "hono") continue;
      const to = said.exports?.["."]?.import;
      return path.join(folder, typeof to === "string" ? to : (to?.default ?? said.module ?? said.main));
    } catch {
      // the next folder
    }
  }
  return undefined;
}

/** Before the module is imported; each application is added to `applications`. */
export async function listen(file, applications) {
  const at = imported(file);
  if (!at) return;
  try {
    const all = await import(at);
    if (typeof all.Hono !== "function") return;
    class Hono extends all.Hono {
      constructor(...words) {
        super(...words);
        applications.add(this);
      }
      route(place, app) {
        if (app) mounted.add(app);
        return super.route(place, app);
      }
    }
    replace(at, { ...all, Hono });
  } catch {
    // another form of the package
  }
}
