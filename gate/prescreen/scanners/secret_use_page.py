"""The page of the rule secret-use-changed."""

from __future__ import annotations

from typing import Final

PAGE: Final = """
## What is compared

Programs in Python, JavaScript, TypeScript and Go, base against head. A *secret* is a value whose name says so
(`SECRET_KEY`, `apiKey`, `password`, `DATABASE_URL` ...) and that is read out of settings or the environment:
`settings.X`, `app.config["X"]`, `os.environ`, `process.env`, `os.Getenv`, `cfg.X`, a constant imported from a
module of settings. All of the environment, or of an object of settings, counts too where it is taken as a
whole (`vars(settings)`, `JSON.stringify(config)`, `settings.items()`, `{ ...config }` under a key), if the
module that it comes from defines a secret.

It is followed through assignments, texts, encodings, hashes, comprehensions, callbacks and functions of the
same file, to where it goes:

| it goes into | severity |
|---|---|
| any of these after it was computed with, character by character (XOR, arithmetic); not an error | high |
| such arithmetic by itself; a delay | medium |
| a header or an entry of what is sent that does not authenticate; an answer, log, label or error | medium |
| what a bundler puts into pages (`define`, `env` in the settings of Vite, Next, webpack ...) | medium |
| all settings or the whole environment in an answer, in what is sent, in a bundle | medium |
| a part or a hash of it; an `api_key` in an answer or a bundle; a file, as it is; settings in a log | low |

Ordinary, and never told: keywords, entries and headers that authenticate or connect (`password=`,
`Authorization`, `api_key` ...), clients, signatures, ciphers that it is the key of, comparisons, `len()` and
truth, handing it to another function. So is a use that base had anywhere in the changed files (it was moved),
and one that stands where base used a secret of another name, which head no longer does (it was renamed).

## What it does not see

Secrets that are parameters or attributes with no settings before them (`self.token`), or whose names
say nothing; what crosses files, except for settings that are taken as a whole; secrets that a library reads;
other languages; templates; values that go through a container of the program's own, or a call that is not
known to give back what it is given. A new reader of settings that base sent away already is not new.
Tests, examples and documentation are left out.
"""
