"""The page of the rule secret-use-changed."""

from __future__ import annotations

from typing import Final

PAGE: Final = """
## What is compared

Programs in Python, JavaScript, TypeScript, Go, Java, Kotlin, C#, PHP, Ruby, Rust and shell, and templates of
texts, base against head. A *secret* is a value whose name says so
(`SECRET_KEY`, `apiKey`, `password`, `DATABASE_URL` ...) and that is read out of settings or the environment:
`settings.X`, `app.config["X"]`, `os.environ`, `process.env`, `os.Getenv`, `cfg.X`, a constant imported from a
module of settings. All of the environment, or of an object of settings, counts too where it is taken as a
whole (`vars(settings)`, `JSON.stringify(config)`, `settings.items()`, `{ ...config }` under a key), if the
module that it comes from defines a secret.

A value whose name says nothing is one too

- where it is a setting (of `config`, `settings`, the environment, an object whose type is `...Settings` or
  `...Options`) and the change takes it to pieces: characters or bytes that are computed with, a number made
  of a piece, a checksum of a piece, all of it encrypted as a text;
- where it is any attribute (`self.word`, `u.Cred`, `@seed`, `$RELAY_SEED`) that the project signs, encrypts
  or logs in with, in this file or (by its owner's name) in another one, and it is taken to pieces or leaves
  in another form.

An error that is handed on as a whole (`{ ...rest }`, `vars(error)`, `error.config`) counts where the
project's errors keep the request, or its client's do (axios); `{ ...ctx.at }` where the environment is kept
under that name; a field of a template that ends in a secret (`{ctx.store.password}`,
`{ctx.store.login[1]}`) or leads into the program (`__globals__`).

## Secrets of users

What somebody types or holds and what comes in as a parameter, a field, or an entry of a form, a request or a
cookie, told by the words of its name: passwords, pass codes, numbers and security codes of cards, IBANs,
numbers of persons, one-time and recovery codes, private keys (*typed*); ids and tokens of sessions, tokens of
access (*held*): `password`, `card.number`, `r.PostFormValue("password")`, `$_POST['cvv']`, `session_id()`,
`params[:otp]`, `({ sid }: Visitor)`. New is a use in a form (as it is, a hash, in another alphabet, computed
with) that base had not in the changed files:

| what became of it | where it goes | severity |
|---|---|---|
| computed with (XOR, arithmetic, another base) | as below, what is sent, an address | high |
| the same | an answer, a file, an error, a delay | medium |
| a typed one in another alphabet (base64, hex) | header, cookie, log, metric, event, key of a cache | high |
| a held one in another alphabet | header, cookie, log, metric, trace | medium |
| a typed one as it is | log, header, cookie, key of a cache, a call of metrics or of an audit | medium |
| a digest of a typed one without a key | log, header, metric | medium |

Functions of other files are read for what they give back, and, in both trees, for where they take what they
are given. Ordinary: a part of it (the last four digits, a masked number), a digest of a session or a token,
a sum of a session's characters that is cut to a width with each of them (a bucket of an experiment), a
digest with a key, what a function makes that is not known (`bcrypt`), comparing and checking, headers and
entries that log in, keys of caches that hold a session as it is, printing for whoever runs a program.

## All fields, and names in data

All fields of an object (`vars(self.pool)`, `Object.entries(api)`) in metrics or in what is sent are told,
medium, where its class keeps a secret. So is data (JSON, YAML, TOML ...) that newly names a variable of the
environment which base reads as a secret, where the program reads variables by such names and hands them on
to a log, a metric, an audit, an answer or what is sent.

## How it is followed

It is followed through assignments, texts, encodings, hashes, comprehensions, callbacks, functions of the
same file, and functions of other changed files that take a parameter to pieces, to where it goes; where
such a function's callers did not change, they are read for what they give it:

| it goes into | severity |
|---|---|
| any of these after it was computed with, character by character (XOR, arithmetic); not an error | high |
| such arithmetic by itself; a delay; any of this where no name says that it is a secret | medium |
| a header or an entry of what is sent that does not authenticate; an answer, log, label or error | medium |
| what a bundler puts into pages (`define`, `env` in the settings of Vite, Next, webpack ...) | medium |
| all settings or the whole environment in an answer, in what is sent, in a bundle | medium |
| a part or a hash of it; an `api_key` in an answer or a bundle; a file, as it is; settings in a log | low |

Ordinary, and never told: keywords, entries and headers that authenticate or connect (`password=`,
`Authorization`, `api_key` ...), clients, signatures, ciphers that it is the key of, comparisons, `len()` and
truth, handing it to another function. So is a use that base had anywhere in the changed files (it was moved),
and one that stands where base used a secret of another name, which head no longer does (it was renamed).

## What it does not see

Secrets of users under names that say nothing (`field`, `value`), in variables of pages, or in pieces that are
sent one by one as they are; functions of libraries that log what they are given. Attributes that nothing in
the project signs or logs in with, and settings that leave as they are, where no
name says that they are secret; what crosses files, except for what is named above; secrets that a library
reads; other languages; templates of settings of programs; what a change of the templates' objects puts
under an old field; values that go through a container of the program's own, or a call that is not known to
give back what it is given; a key as a seed of chance, or as the length of something. In a shell: what
stands in files, and arithmetic. A new reader of settings that base sent away already is not new. Tests,
examples and documentation are left out.
"""
