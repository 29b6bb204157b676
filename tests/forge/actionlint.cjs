// Lints the workflow files named on the command line; prints one JSON list. argv: PACKAGE FILE...
const { readFileSync } = require("node:fs");
const [folder, ...files] = process.argv.slice(2);
const { createLinter } = require(`${folder}/node.cjs`);

createLinter().then((lint) => {
  const found = files.flatMap((file) =>
    lint(readFileSync(file, "utf8"), file).map((one) => `${one.file}:${one.line}: ${one.message}`),
  );
  console.log(JSON.stringify(found));
});
