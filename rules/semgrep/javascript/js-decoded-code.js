// ruleid: js-decoded-code
eval(atob("YWxlcnQoMSk="));
const code = Buffer.from(data, "base64").toString();
// ruleid: js-decoded-code
new Function(code)();
// ruleid: js-decoded-code
cp.execSync(Buffer.from("6964", "hex").toString());
// ok: js-decoded-code
const image = Buffer.from(data, "base64");
// ok: js-decoded-code
fs.writeFileSync("x.png", image);
