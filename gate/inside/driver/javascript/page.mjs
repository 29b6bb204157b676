// A browser's names for code that was written for a page and is imported without one: those that are missing, as
// stand-ins. `document` takes whatever is asked of it; what a handler is given while the module loads does not run.
// Only where the code was not to be loaded or called without (main.py), and the same at base and head.

const CLASSES = [
  "Node", "Element", "HTMLElement", "HTMLInputElement", "HTMLFormElement", "HTMLButtonElement", "HTMLAnchorElement", "SVGElement",
  "ShadowRoot", "DocumentFragment", "Text", "Image", "Audio", "DOMParser", "XMLSerializer", "FileReader", "KeyboardEvent",
  "MouseEvent", "PointerEvent", "InputEvent", "MutationObserver", "IntersectionObserver", "ResizeObserver", "Worker", "XMLHttpRequest",
  "Document", "Window", "NodeList", "HTMLCollection", "HTMLSelectElement", "HTMLTextAreaElement", "HTMLImageElement", "HTMLDivElement",
  "HTMLSpanElement", "HTMLTemplateElement", "HTMLScriptElement", "HTMLIFrameElement", "HTMLCanvasElement", "HTMLVideoElement",
  "HTMLAudioElement", "HTMLMediaElement", "HTMLDialogElement", "HTMLTableElement", "HTMLLabelElement", "HTMLOptionElement",
  "FocusEvent", "UIEvent", "WheelEvent", "TouchEvent", "DragEvent", "ClipboardEvent", "StorageEvent", "PopStateEvent", "HashChangeEvent",
  "CSSStyleSheet", "DOMRect", "Range", "Selection", "EventSource", "NodeFilter", "Notification", "SpeechSynthesisUtterance",
];
const FUNCTIONS = [
  "addEventListener", "removeEventListener", "dispatchEvent", "alert", "print", "scrollTo", "scrollBy", "focus", "open", "close",
  "postMessage", "cancelAnimationFrame", "cancelIdleCallback",
];

/** Lay out what is missing. `ghost` makes a stand-in that takes whatever is asked of it. */
export function layPage(ghost) {
  lay("window", globalThis);
  lay("self", globalThis);
  lay("top", globalThis);
  lay("parent", globalThis);
  lay("location", place("http://localhost/"));
  lay("origin", "http://localhost");
  for (const name of ["document", "history", "screen", "customElements", "visualViewport", "caches", "indexedDB"]) lay(name, ghost());
  lay("navigator", ghost());
  lay("localStorage", store());
  lay("sessionStorage", store());
  for (const name of FUNCTIONS) lay(name, () => undefined);
  lay("confirm", () => true);
  lay("prompt", () => "gate");
  lay("matchMedia", (media) => ({ media, matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} }));
  lay("requestAnimationFrame", (act) => setTimeout(() => act(0), 0));
  lay("requestIdleCallback", (act) => setTimeout(() => act({ didTimeout: false, timeRemaining: () => 1 }), 0));
  lay("getComputedStyle", () => ghost());
  for (const name of CLASSES) lay(name, stand(name, ghost));
}

function lay(name, value) {
  try {
    if (globalThis[name] !== undefined) return;
  } catch {
    // Deno's own location, which it does not give without an address
  }
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

function place(address) {
  const url = new URL(address);
  for (const name of ["assign", "replace", "reload"]) url[name] = () => undefined;
  return url;
}

function store() {
  const kept = new Map();
  return {
    getItem: (key) => kept.get(String(key)) ?? null,
    setItem: (key, value) => void kept.set(String(key), String(value)),
    removeItem: (key) => void kept.delete(String(key)),
    clear: () => kept.clear(),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size;
    },
  };
}

/** A class that can be extended and made; an instance takes whatever is asked of it. */
function stand(name, ghost) {
  const made = {
    [name]: class {
      constructor() {
        const self = this;
        return new Proxy(self, { get: (one, key, receiver) => (key in one ? Reflect.get(one, key, receiver) : typeof key === "symbol" || key === "then" ? undefined : ghost()) });
      }
    },
  };
  return made[name];
}
