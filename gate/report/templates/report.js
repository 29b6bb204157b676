"use strict";
(() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const one = (id) => document.getElementById(id);
  const findings = all("details.finding");
  const filter = one("filter"), told = one("told"), fold = one("fold"), keys = one("keys");
  const chips = all("button[data-severity]");
  const texts = new Map(findings.map((f) => [f, f.textContent.toLowerCase()]));
  const narrow = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(chips.filter((c) => c.ariaPressed === "false").map((c) => c.dataset.severity));
    let shown = 0;
    for (const f of findings) {
      f.hidden = off.has(f.dataset.severity) || !words.every((w) => texts.get(f).includes(w));
      shown += f.hidden ? 0 : 1;
    }
    told.textContent = shown === findings.length ? "" : `${shown} of ${findings.length} findings shown`;
  };
  const openAll = (open) => {
    for (const f of findings) f.open = open;
    fold.ariaPressed = String(open);
    fold.textContent = open ? "Close all" : "Open all";
  };
  const follow = () => {
    let name = "";
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const to = name && one(name);
    if (!to) return;
    to.hidden = false;
    if (to.tagName === "DETAILS") { to.open = true; to.querySelector("summary").focus({ preventScroll: true }); }
    to.scrollIntoView();
  };
  const step = (by) => {
    const stops = all("[data-stop]").filter((s) => !s.closest("[hidden]"));
    if (!stops.length) return;
    const at = stops.indexOf(document.activeElement);
    const to = stops[at < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, at + by))];
    to.focus();
    to.scrollIntoView({ block: "nearest" });
  };
  const acts = {
    j: () => step(1),
    k: () => step(-1),
    o: () => openAll(fold.ariaPressed !== "true"),
    "/": () => filter.focus(),
    "?": () => keys.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement === filter) { filter.value = ""; narrow(); filter.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open || event.target.closest("input")) return;
    if (Object.hasOwn(acts, event.key)) { event.preventDefault(); acts[event.key](); }
  });
  filter.addEventListener("input", narrow);
  for (const c of chips) c.addEventListener("click", () => { c.ariaPressed = String(c.ariaPressed === "false"); narrow(); });
  fold.addEventListener("click", acts.o);
  one("help").addEventListener("click", acts["?"]);
  one("close").addEventListener("click", () => keys.close());
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => openAll(true));
  document.querySelector(".tools").hidden = !findings.length;
  follow();
})();
