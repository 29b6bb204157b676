const cp = require("child_process");
// ruleid: js-shell-command
cp.exec("ls " + folder);
// ruleid: js-shell-command
cp.execSync(`git log ${branch}`);
const command = "tar xf " + name;
// ruleid: js-shell-command
cp.exec(command);
// ok: js-shell-command
cp.exec("ls -l");
// ok: js-shell-command
cp.execFile("ls", [folder]);
// ok: js-shell-command
pattern.exec("a" + b);
