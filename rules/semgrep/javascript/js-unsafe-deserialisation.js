const s = require("node-serialize");
// ruleid: js-unsafe-deserialisation
s.unserialize(text);
// ruleid: js-unsafe-deserialisation
yaml.load(text, { schema: yaml.DEFAULT_FULL_SCHEMA });
// ok: js-unsafe-deserialisation
JSON.parse(text);
// ok: js-unsafe-deserialisation
yaml.load(text);
