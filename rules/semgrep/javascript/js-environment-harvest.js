// ruleid: js-environment-harvest
const all = JSON.stringify(process.env);
// ruleid: js-environment-harvest
new URLSearchParams(process.env);
// ok: js-environment-harvest
const port = process.env.PORT;
// ok: js-environment-harvest
spawn("ls", [], { env: { ...process.env, CI: "1" } });
// ok: js-environment-harvest
JSON.stringify({ port: process.env.PORT });
