"""Protections that the change takes away: base and head are read as data and compared by meaning.

Both versions of every changed file are read in a limited child; what they say is compared here, as values.
A function is found again where it was moved or renamed; one that was deleted protects nothing that is left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.languages.content import reader_of
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended, unread_files_text
from gate.prescreen.scanners.deselected_tests import deselected_tests
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.protections.compare import losses
from gate.protections.facts import WHO, FileFacts
from gate.protections.moot import is_moot
from gate.protections.neighbours import is_beside, new_entry_files
from gate.protections.routes.files import files_of_routes
from gate.protections.routes.mounted import is_asked_at_mount, mounting_files
from gate.protections.templates.endings import unescaped_templates
from gate.protections.templates.reader import ENDINGS
from gate.protections.tests_compare import Missing, changed_names, missing_tests
from gate.protections.unit_losses import Loss

REMOVED: Final = rule.meta(
    "protection-removed",
    "A check that base had is gone, or refuses less",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(862, 863, 306, 208, 347, 352, 693),
    languages=(
        "python",
        "javascript",
        "typescript",
        "go",
        "java",
        "kotlin",
        "csharp",
        "ruby",
        "php",
        "rust",
        "shell",
    ),
    why="A log-in, a permission, a comparison in constant time or a limit that is taken out leaves no odd "
    "line behind: the new code looks like any other. High is a page that nothing guards any more.",
    fix="Put the check back, or say in the change why this may be open and who approved it.",
)
TESTS: Final = rule.meta(
    "protection-test-removed",
    "A test of changed code is gone, skipped or asks less",
    severity="low",
    confidence="medium",
    topic="tests",
    cwe=(693,),
    languages=("python", "javascript", "typescript"),
    why="A test that named the changed function would have told what the change breaks. Medium where the "
    "same change removes a check from that function.",
    fix="Keep the test and make it pass, or say why what it asked for no longer holds.",
)
RULES: Final[tuple[RuleMeta, ...]] = (REMOVED, TESTS)
PAGES: Final = {
    REMOVED.id: """
## What is compared

Functions, classes and routes of base and head, found again where they were moved or renamed: decorators,
dependencies among parameters, permission and throttle classes, middleware, settings, conditions that refuse
(as alternatives of atoms, so that De Morgan's laws, a split or a renamed variable make no difference), calls
that check, comparisons in constant time, arguments such as `audience=`, filters for what is the user's, and
the order of a check and what it guards.

- *gone*: nothing at head refuses what base refused. A guard of the same kind elsewhere (a router, a class,
  middleware, a helper that is called) counts as kept; a log-in does not stand in for a permission.
- *turned round*: the condition of a refusal is the opposite of base's (`!==` became `===`, a `not` is gone),
  whatever else it asks: high, since the one whom base refused is let through.
- *refuses less*: the same check under more conditions, behind the act, or with its exception swallowed. Low
  where the new condition is one of the program's own; medium where it asks the environment, a header, a
  setting or is constant.
- *switched off*: `csrf_exempt`, `AllowAny`, `optional=True`, a setting that is off, a token that chooses its
  own algorithm, a route that now stands before the guard of its path, a value that is compared with itself
  (`session.pop("state", given) != given`), an allowed ending that is run when it is opened (`.svg`, `.php`).
- *far less*: a quantity that protects, read as a value (constants folded, names followed, time spans in
  seconds), compared within its function or settings. Each has a direction, a factor and a bound; tuning
  within them says nothing:

| quantity | reported when |
|---|---|
| length of random values (tokens, nonces, salts) | half or less, and below 128 bits |
| rounds of PBKDF2 | a quarter or less, and below 210,000 |
| cost of bcrypt; of scrypt; memory of argon2 | a quarter or less, and below 10; 2^14; 7 MiB |
| RSA, DSA and DH keys | less, and below 2,048 bits |
| least length of a password | two thirds or less, and below 8 |
| lifetime of sessions, tokens, cookies, reset links | ten times or more, and above a day |
| tolerance for clocks (`leeway`) | ten times or more, and above five minutes |
| log-in attempts | ten times or more, and above 20 |
| time that an account stays locked | a tenth or less, and below five minutes |
| size of what may be sent | a hundred times or more, and above 64 MiB |
| steps of time whose one-time codes are right | three times or more, and above 4 |
| depth of GraphQL queries; their cost | four times or more, and above 24; ten times, and above 10,000 |
| a secret from the environment | it gets a default that is written in the source; for a key also "" |

- *asked of nobody*: a route that base had not, where all routes beside it at base (three or more in the
  file) share a check of who asks, or keep their queries to what is the user's, and it does neither. What is
  meant to be open by its name (log-in, health, webhook ...) is left out.

What is refused is compared, not only how it is written: `path == "/admin"` for `path.startswith("/admin")`,
`endsWith("a.example")` for `endsWith(".a.example")` in what lets through, a longer prefix, a smaller set
refuse less. Besides conditions, these are compared:

- *queries*: a column or keyword that says whose something is (tenant, owner, account, user ...) and that a
  query of base binds in all ways of its `WHERE` (`OR` for `AND` binds nothing), in SQL in any language, in
  Django, SQLAlchemy, Prisma and Mongoose;
- *who asks*, taken from a header, a cookie or a query where base asked the session; Django's `RemoteUser`
  in its settings;
- *entries*: what somebody may set (`EDITABLE`, `fillable` ... with `role`, `is_admin`, `owner_id` ...), what
  is hidden (`REDACTED`, `SENSITIVE` ... without `authorization`, `cookie` ...), what makes an administrator
  (`ROLES`), what is sent and set behind the owner (`{"owner": me, **sent}`), a maker of signatures that
  leaves its key unused;
- *what is signed*: a message authentication code that no longer covers what was sent (Python);
- *proofs that prove nothing* (Python, in new functions, too): a token that is decoded and read for who
  somebody is while nothing verifies it, a key out of the token's own header (`jwk`, `jku`, `x5u`, `x5c`), a
  digest in the source that is compared with what was given, a check whose answer is kept under a part of
  the proof;
- *what keeps requests apart* (Python): rows that are locked before they are changed, `ContextVar` and
  `threading.local`, a table of roles that a function changes in place, answers that a wrapper keeps by
  their address and not by whose they are;
- *who decides a value* (JavaScript): an object that set the owner and now spreads what was sent behind it,
  a listener for messages of other windows that answers without asking for their origin;
- *answers*: `Cache-Control: private` or `no-store` that is gone, or became `public` (Python);
- *options whose value decides*, in one table (`gate/protections/options.py`) for arguments, keys of
  dictionaries and objects, fields, assignments, setters, `name, value` of a call and parameters of an address
  (`?sslmode=`), in code of all languages and outside of functions, too: redirects that are followed,
  `dotfiles`, `trust proxy`, `Referrer-Policy`, origins; `httpOnly`, `secure`, `sameSite` (also left out);
  `audience`, `issuer`, `algorithms` with `none` or `HS256` beside public keys; pickles that are accepted,
  `trust_remote_code`, `weights_only`, loaders of YAML, external entities, the third argument of `in_array`;
  `ClientAuth`, `verify_mode`, `check_hostname`, versions of TLS; windows of Electron; the associated data of
  an AEAD. A list is worth its weakest entry;
- *what is still there and worth less*, each found again by its name, so that something new is compared with
  nothing: numbers of a schema that could not be below zero (pydantic, Django, serializers, Zod), keys that
  a schema no longer leaves out (`.passthrough()`, `unknown=INCLUDE`, `additionalProperties`), members that
  only the program set (`read_only_fields`, `read_only=True`, `editable=False`), what the manager of a model
  leaves out, a token that was ended when it was used (Python, JavaScript), which of several ways makes
  new passwords (`PASSWORD_HASHERS`), the level of an audit's logger, patterns of origins without an end or
  with bare dots, `SET LOCAL` and `set_config(..., true)`, a limit that a header skips, rules for the depth
  of queries, routes of gin, fiber and axum that now stand outside of their guard, what a token is asked for
  (`WithAudience`, `set_issuer` ...), a sum that is sent where the program computed it and a pattern that is
  given where it was written in the source (Python), who asks taken from a header (JavaScript);
- *patterns* in a condition that looked at a whole text and look at a part or a line (`fullmatch` and
  `search`, `MULTILINE`, `/m`, Ruby's `^$` for `\\A\\z`);
- *what makes values*, by what a file imports and calls: `crypto/rand` or `secrets` that gave way to
  `math/rand` or `random`, an AEAD to a mode without authentication (and no HMAC), `html/template` to
  `text/template`, `defusedxml` to `xml`; Go's `net/http/pprof` and `expvar`, which answer everybody;
- *tables of keys* (`KEYS`, `SECRET_KEY_FALLBACKS` ... in Python) with an entry that everybody knows: a text
  of the source, or what the environment has, with a text in place of nothing;
- *keys*: a parameter that is gone from the key of a check's cache, a header in the key of a limit;
- *escaping*: a value of a template that base escaped and head writes as it is (`|safe`, `{{{ }}}`, `<%-`,
  `v-html`, `{% autoescape false %}`), `autoescape=True` that became a choice by endings which a template of
  the project has not;
- *order*: a decoder behind the check of what it decodes, a router before the guard of an application, a
  guard for `/admin/*` that was for `/admin/**`;
- *what moves*, compared over the whole change, so that it may stand elsewhere at head: the purpose or salt
  of signed values, the context that `starttls()` checks certificates with, channels and clients of mail,
  LDAP and MQTT without TLS, *all* of the permissions that became *any* of them (`<=`, `every`,
  `containsAll`), paths that are compared without being resolved or without a separator, hooks that hold for
  their plugin, blueprint or controller only (`fastify-plugin`, `before_app_request`, `APP_GUARD`),
  ASP.NET's fallback policy, Laravel's scoped bindings, sums towards a limit that left out one state and
  count one now;
- *reach*: look-ups that went through their owner (`current_user.documents.find`, `findByIdAndOwner`,
  `x.OwnerId == me`) and no longer do, paths that `config.matcher` is no longer asked for, paths that a hook
  lets by for how they end, whom a limit counts, `rediss://` and its like that lost their encryption;
- *what is taken* of what is sent (mapped types of Nest, `pick`, `omit`, `permit`, `only`, `$fillable`,
  `fields` of forms and serializers): a role, an owner or a price more than before, or everything;
- *routes*, by their address, their name or what answers them, wherever they are registered: one that had a
  log-in or a permission and has none, because a function became a class, moved to another file, router,
  blueprint, group or controller, or its wrapper, decorator, middleware or mount went; what is registered
  once more without its guard; a new one where almost all beside it in its group (three or more) have one
  (Django, Django REST framework, Flask, FastAPI, Starlette, aiohttp, Tornado; Express, Koa, Fastify, Nest;
  Spring, JAX-RS, Ktor; ASP.NET's controllers and minimal routes; Rails, Laravel; net/http, chi, gin, echo).
  Handlers and mounts in files that did not change are read, too;
- *checks that nobody hears*: still called, and not awaited, in a task, thread, goroutine, timer, queue or
  `defer` that nobody waits for, in `WhenAny`, `race` or `allSettled`, with `.catch(() => {})`, `rescue nil`,
  `.ok()`, `runCatching`, `suppress` or a handler that only logs, or with an answer that nobody asks; one that
  raised and only answers now, where whoever calls it in the change asks no answer;
- *what is changed behind its check*: a path that is cleaned, resolved, decoded or lowered, or a sum that is
  converted, after the check that looked at the result at base, also with the check in a function that is
  called; a value that is used as it came, where base used the form that is checked; values that PHP
  compares without their types;
- *new files of routes* against the files beside them that did not change, where all of those ask who somebody
  is: in the same folder, or of the same kind in the folder beside;
- *keys* in a list, one of which is empty where the environment has none; answers that a cache behind a log-in
  keeps by their address alone; who may, told by the domain of an address that nobody confirmed;
- *records*: rows with a role, an owner or a price that are written past the model (`update()`, `update_all`,
  `bulk_create`), where the project listens to each save for an audit;
- *templates* that had an ending for which the engine escapes, and have another;
- *what is left undone*: sessions and tokens that a new password or a log-out no longer ends, a reset link
  to the host that was asked for, a signature that is compared as far as what is given.

Go, Java, Kotlin, C#, Ruby, PHP and Rust are read by one reader for all: annotations and attributes
(`@PreAuthorize`, `[Authorize]`), `before_action`, middleware, calls and conditions in the vocabulary of
security, comparisons in constant time, Rocket's and Axum's extractors; `permitAll`, `csrf().disable()`,
`AllowAnonymous`, `InsecureSkipVerify`, `skip_before_action` and their like open. Where the function is
rewritten rather than cut, calls a check that it did not call, or its class has another base, the loss is
*low*; so is one of another kind than who may, in a function that answers no request and calls something new.

Of shell scripts only checks of sums and signatures are compared (`sha256sum -c`, `gpg --verify`, `cosign
verify` ...): one that is gone, or whose failure nobody hears (`|| true`, a `set -e` that is gone).

High is a function that answers requests and that nothing in the change guards any more. *Critical* (it
blocks by itself) is a log-in, a permission, a signature or a CSRF check that is taken out of what decides
who may, or loosened there, while the rest of the function is as before: whoever takes a check out for a
reason changes what it guarded, too.
A view that is deleted protects nothing that is left, and is not reported.

In Django's `MIDDLEWARE` others stay behind the sessions and the log-in that they ask. A random value that
gives way to the clock, a counter or a digest is *far less*, too.

## What it does not see

Guards in files that the change does not touch, other than beside new routes; new routes where fewer than
two or three neighbours make a rule; purposes and states that come in a variable; sums in SQL; values of
conditions other than the quantities and texts above; queries that are put together from pieces or come from
a builder of another library; entries of lists whose names say nothing; keys of caches in other languages
than Python, and decoders there; policies in languages of their own (Rego, Firestore, Casbin); new values of
a template that never were escaped; guards of frameworks whose names say nothing; options that are in no
table, whose value is computed, or that go with the call that set them; routes whose handler or middleware
has no name that is found once; tables of routes that are computed; checks whose names say nothing, and those
that a wrapper of the program's own runs later; changes behind a check that no call or multiplication makes,
and those two calls away; the order of middleware in Flask and
Starlette; quantities whose constant stands in another file under a name that says nothing. """,
    TESTS.id: """ A test is *about* a function when it uses its name or has it in its own. Tests that were
renamed or moved are found again by their name or body.

Settings of the runner are compared, too: `addopts`, `--ignore`, `--deselect`, `-k 'not ...'` and
`norecursedirs` of pytest, `testPathIgnorePatterns` of Jest, `collect_ignore` of a conftest.py. One that
leaves out tests which are there is low; medium where they speak of who may do what. High is a conftest.py
that sets `session.exitstatus` or a report's `outcome`, ends the process as if all were well, or a script
`test` that ends in `|| true`: the tests pass whatever they find.

Not seen: marks (`-m`), hooks that take items out, other runners, `omit` of coverage.
""",
}
_CWE: Final[dict[str, tuple[int, ...]]] = {
    "authentication": (306, 862),
    "authorisation": (862, 863),
    "csrf": (352,),
    "rate limit": (307, 770),
    "integrity": (347, 208),
    "escaping": (79, 116),
    "place": (22, 601, 918),
    "isolation": (362, 488),
    "length of random values": (331, 334),
    "key size": (326,),
    "length of a password": (521,),
    "lifetime": (613,),
    "tolerance for clocks": (613,),
    "log-in attempts": (307,),
    "time that is locked": (307,),
    "size of what is sent": (770,),
    "cost of bcrypt": (916,),
    "cost of scrypt": (916,),
    "memory of argon2": (916,),
    "passes of argon2": (916,),
    "rounds of a password hash": (916,),
    "values of a template that are escaped by its ending": (79, 116),
    "keys that are not taken from what is sent": (915,),
    "things that are looked for among somebody's own": (639,),
    "paths that a middleware is asked for": (306, 862),
    "whom a limit counts": (307, 770),
    "paths that a check lets by": (306, 862),
    "what a signed value is for": (345,),
    "certificates of a server that are checked": (295,),
    "connections that are encrypted": (319,),
    "how many of the permissions that are asked for somebody must have": (863,),
    "paths that are resolved before it is asked where they lie": (22,),
    "whole names of folders in what is asked of a path": (22,),
    "a log-in for entry points that say nothing themselves": (306, 862),
    "entry points that a hook stands before": (306, 862),
    "nested objects that belong to the one around them": (639,),
    "states that a sum counts towards a limit": (840,),
    "checks whose answer somebody waits for": (252, 390),
    "values that are changed before they are checked": (180, 367),
    "values that are compared with their type": (697,),
}
_MOST: Final = 20
_DOORS: Final[dict[str, str]] = {
    "python": "gate.protections.python.reader:read",
    "javascript": "gate.protections.javascript.reader:read",
    "typescript": "gate.protections.javascript.reader:read",
    "shell": "gate.protections.shell.reader:read",
}
"""Languages that have a reader of their own; the others are told by their ending."""
_GENERIC: Final = "gate.protections.generic.reader:read"
_ENDINGS: Final = (".go", ".java", ".kt", ".kts", ".cs", ".rb", ".php", ".rs")
_TEMPLATE: Final = "gate.protections.templates.reader:read"
_HOW: Final = {
    "removed": "A check of {} that base had is gone.",
    "loosened": "A check of {} refuses less than at base.",
    "inverted": "A check of {} is turned round: it lets through whom base refused.",
    "weakened": "Far less than at base: {}.",
    "missing": "A new entry point asks nobody for {}; those beside it do.",
    "opened": "Something that base did not have switches a protection off ({}).",
}
_TOLD: Final = {
    "deleted": "A test of code that this change edits is deleted.",
    "skipped": "A test of code that this change edits is skipped.",
    "loosened": "A test of code that this change edits asks less than before.",
}
_SHOWN: Final = 3
_NEIGHBOURS: Final = 24
_LONGEST: Final = 200_000

_Facts = dict[str, FileFacts]
_File = tuple[str, str, bytes]
"""Who reads it, its path on its side, its text."""


class Protections:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "protections"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the protections of every changed program, deleted files counted as base only."""
        until = time.monotonic() + request.deadline
        views = make_views(request)
        heads = [v for v in views.of(side="head") if _door(v.path, v.language) and not v.unreadable]
        bases = [v for v in views.of(side="base") if _door(v.path, v.language) and not v.unreadable]
        left_out = [*deselected_tests(request, views, TESTS, until)]
        if not heads and not any(f.status == "deleted" for f in request.change.files):
            return ended(self.name, left_out)
        now_at = {v.path: v.source.path for v in bases}
        base, _ = _read([*map(_packed, bases), *_deleted(request)], until)
        head, unlooked = _read([*map(_packed, heads)], until)
        by_path = {v.path: v for v in heads}
        try:
            around = _around(request, base, head, now_at, until)
            found = [*left_out, *_findings(base, head, now_at, by_path, until, request.head, around)]
            found += [
                _loss(loss, by_path.get(loss.path))
                for loss in unescaped_templates(request.change, request.base, request.head)
            ]
        except TimeoutError:
            late = "the scanner's deadline had passed"
            unlooked = [*unlooked, *((path, late) for path in head)]
            if any(map(_is_program, head)):
                return ended(self.name, left_out, [item for item in unlooked if _is_program(item[0])])
            found = left_out
        python = {path for path, view in by_path.items() if view.language == "python" and not view.guessed}
        programs = [(path, why) for path, why in unlooked if path in python]
        result = ended(self.name, found, programs)
        others = [item for item in unlooked if item not in programs]
        return _noted(result, others) if others and not programs else result


def _noted(result: Prescreened, others: Sequence[tuple[str, str]]) -> Prescreened:
    """The same; what is no Python and was not compared is named in the stage: others read it, too."""
    why = f"{unread_files_text(others)} (read elsewhere)"
    return replace(result, stages=tuple(replace(stage, reason=why) for stage in result.stages))


def _is_program(path: str) -> bool:
    """A template that was not compared is no program that nobody looked at."""
    return not path.endswith(ENDINGS)


def _packed(view: View) -> _File:
    return _door(view.path, view.language), view.path, view.text.encode("utf-8", "replace")


def _door(path: str, language: str | None) -> str:
    """Who reads a file; empty for what is not compared."""
    if path.endswith(ENDINGS):
        return _TEMPLATE
    own = _DOORS.get(language or "", "")
    return own or (_GENERIC if path.endswith(_ENDINGS) else "")


def _deleted(request: PrescreenRequest) -> Iterator[_File]:
    gone = [f.path for f in request.change.files if f.status == "deleted" and not f.binary]
    doors = {path: door for path in gone if (door := _door(path, reader_of(path, b"")))}
    for path, data in request.base.read_many(tuple(doors)):
        yield doors[path], path, data


def _around(
    request: PrescreenRequest, base: _Facts, head: _Facts, now_at: Mapping[str, str], until: float
) -> _Facts:
    """What did not change and stands beside new files that answer requests, or belongs to new routes."""
    new = [path for path in new_entry_files(base, head, now_at) if not is_test_code(path)]
    if not new and not any(facts.routes for facts in head.values()):
        return {}
    changed = {*base, *head, *(f.path for f in request.change.files)}
    there = [e.path for e in request.base.entries() if e.path not in changed and not is_test_code(e.path)]
    beside = [path for path in there if any(is_beside(path, one) for one in new)][:_NEIGHBOURS]
    more = (*files_of_routes(base, head, there), *mounting_files(base, head, there))
    beside = [*dict.fromkeys((*beside, *more))]
    doors = {path: door for path in beside if (door := _door(path, reader_of(path, b"")))}
    files = [(doors[path], path, data) for path, data in request.base.read_many(tuple(doors))]
    return _read([one for one in files if len(one[2]) <= _LONGEST], until)[0]


def _read(files: Sequence[_File], until: float) -> tuple[_Facts, list[tuple[str, str]]]:
    tests = [path for _, path, _ in files if is_test_code(path)]
    facts: _Facts = {}
    unlooked: list[tuple[str, str]] = []
    for door in sorted({door for door, _, _ in files}):
        chosen = [(path, data) for at, path, data in files if at == door]
        left = max(1.0, until - time.monotonic())
        results = scan_isolated(
            Reader(door, FileFacts, parses=True, pure=True), chosen, options={"tests": tests}, deadline=left
        )
        for result in results:
            if result.value is not None:
                facts[result.path] = result.value
            else:
                unlooked.append((result.path, result.reason))
    return facts, unlooked


def _findings(
    base: _Facts,
    head: _Facts,
    now_at: Mapping[str, str],
    views: Mapping[str, View],
    until: float,
    tree: Tree,
    around: _Facts,
) -> Iterator[Finding]:
    product = [{p: f for p, f in side.items() if not is_test_code(p)} for side in (base, head)]
    tests = [{p: f for p, f in side.items() if is_test_code(p)} for side in (base, head)]
    lost = [
        one for one in losses(product[0], product[1], now_at, until, around)
        if not is_moot(one, tree) and not is_asked_at_mount(one, head, around)
    ]  # fmt: skip
    for loss in lost[:_MOST]:
        yield _loss(loss, views[loss.path])
    edited = changed_names(product[0], product[1], now_at)
    weaker = {loss.unit.rpartition(".")[2] for loss in lost}
    missing = [*missing_tests(tests[0], tests[1], now_at, edited | weaker)]
    missing.sort(key=lambda m: (weaker.isdisjoint(m.about), m.path, m.line))
    for one in missing[:_MOST]:
        yield _missing(one, weaker, views.get(one.path))


def _loss(loss: Loss, view: View | None) -> Finding:
    before = " | ".join(loss.before[:_SHOWN])
    more = len(loss.before) - _SHOWN
    evidence = {
        "in": loss.unit or "the module",
        "protects": loss.family,
        "before": before + (f" | and {more} more" if more > 0 else ""),
        "base": loss.before_at,
        "after": loss.after or "nothing",
    }
    way_round = loss.how == "opened" and loss.family in WHO and not loss.modest
    severity = Severity.HIGH if loss.open or way_round or loss.how == "inverted" else Severity.MEDIUM
    severity = Severity.CRITICAL if loss.bare else severity
    severity = Severity.LOW if loss.mild or is_example(loss.path) else severity
    made = finding(
        REMOVED,
        _HOW[loss.how].format(loss.family),
        view.location(loss.line) if view is not None else Location(path=loss.path, line=loss.line),
        shape=f"{loss.how} {loss.unit} {before} {loss.after}",
        evidence={key: value for key, value in evidence.items() if value},
        severity=severity,
        confidence=_confidence(loss),
    )
    return replace(made, cwe=_CWE.get(loss.family.partition(":")[0], (693,)))


def _confidence(loss: Loss) -> Confidence:
    if loss.bare and not loss.mild:
        return Confidence.HIGH
    certain = loss.family in WHO or loss.how in ("opened", "weakened")
    return Confidence.MEDIUM if certain else Confidence.LOW


def _missing(one: Missing, weaker: set[str], view: View | None) -> Finding:
    grave = not weaker.isdisjoint(one.about)
    place = view.location(one.line) if view is not None and one.line else Location(path=one.path)
    return finding(
        TESTS,
        _TOLD[one.how],
        place,
        shape=f"{one.how} {one.test}",
        evidence={"test": one.test, "about": ", ".join(one.about[:_SHOWN])},
        severity=Severity.MEDIUM if grave else Severity.LOW,
    )
