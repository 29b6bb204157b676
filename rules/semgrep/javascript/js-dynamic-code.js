// ruleid: js-dynamic-code
eval(input);
// ruleid: js-dynamic-code
const f = new Function("a", body);
// ruleid: js-dynamic-code
vm.runInNewContext(code, {});
// ruleid: js-dynamic-code
setTimeout("go(" + x + ")", 10);
// ok: js-dynamic-code
eval("1 + 1");
// ok: js-dynamic-code
JSON.parse(input);
// ok: js-dynamic-code
setTimeout(() => go(x), 10);
