// ruleid: js-credential-read
fs.readFileSync(os.homedir() + "/.ssh/id_rsa");
// ruleid: js-credential-read
fs.readFileSync(path.join(home, ".npmrc"), "utf8");
// ok: js-credential-read
fs.readFileSync("package.json");
