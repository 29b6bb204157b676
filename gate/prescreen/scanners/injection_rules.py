"""The rules of the flow in JavaScript, Go, PHP, Java, Kotlin, Ruby and C#: one weakness each."""

from __future__ import annotations

from typing import Final, Literal

from gate.model.rule import RuleMeta
from gate.prescreen.text_rule import rule

LANGUAGES: Final = ("javascript", "typescript", "go", "php", "java", "kotlin", "ruby", "csharp")


def _rule(
    name: str,
    title: str,
    cwe: tuple[int, ...],
    why: str,
    fix: str,
    *,
    severity: Literal["low", "medium", "high"] = "high",
    topic: str = "injection",
) -> RuleMeta:
    return rule.meta(
        f"flow.{name}",
        title,
        severity=severity,
        confidence="medium",
        topic=topic,
        cwe=cwe,
        languages=LANGUAGES,
        why=why,
        fix=fix,
    )


BY_SINK: Final[dict[str, RuleMeta]] = {
    "sql": _rule(
        "sql-built", "A request becomes part of a query", (89,),
        "A quote in the value turns the rest of it into a query of its own.",
        "Bind the values as parameters; take names of columns from a list.",
    ),
    "nosql": _rule(
        "nosql-condition", "A request decides a condition of a document database", (943,),
        'A body such as {"$ne": null} is a condition, not a value: it matches every document.',
        "Turn the value into a text (String(x)) or check it by a schema.", severity="medium",
    ),
    "shell": _rule(
        "shell-command", "A request becomes part of a command", (78, 77),
        "A value with ; or $( ) in it becomes a command of its own.",
        "Start the program with a list of arguments and no shell.", topic="exec",
    ),
    "code": _rule(
        "dynamic-code", "A request becomes code", (94, 95),
        "Whoever sends the value runs code in the server.",
        "Parse the value as data, or choose among known functions.", topic="exec",
    ),
    "path": _rule(
        "path-from-request", "Path from a request", (22, 73),
        "../ in the value reaches any file that the process can read or write.",
        "Resolve the path and check that it is below the folder, or take the last part of the name only.",
    ),
    "ssrf": _rule(
        "request-forgery", "The server fetches what a request says", (918,),
        "The server can reach internal systems that the client cannot.",
        "Choose the host from a list; encode values that go into the path.", topic="network",
    ),
    "xss": _rule(
        "cross-site-scripting", "A request becomes markup of a page", (79,),
        "A script in the value runs in the browser of whoever opens the page.",
        "Escape the value, or let a template that escapes show it.",
    ),
    "template": _rule(
        "template-injection", "A request becomes a template", (1336, 94),
        "A template may call functions of the server.",
        "Keep templates constant and give them the values as data.",
    ),
    "deserialise": _rule(
        "unsafe-deserialisation", "A request is made into objects", (502,),
        "Making the objects runs code that the sender chooses.",
        "Use a format that holds data only, such as JSON.",
    ),
    "redirect": _rule(
        "open-redirect", "A request decides where the browser is sent", (601,),
        "A link to this site leads to a page that imitates it.",
        "Redirect to paths of the own site only, or to hosts of a list.", severity="medium",
    ),
    "xml": _rule(
        "xml-external", "XML of a request is read with external entities", (611,),
        "An entity of the document reads files of the server and sends them on.",
        "Turn document types off in the parser.",
    ),
    "jwt": _rule(
        "jwt-unverified", "A token of a request is read without its signature", (347,),
        "Anybody writes such a token.", "Verify the signature with a fixed algorithm.", severity="medium",
        topic="authentication",
    ),
    "upload": _rule(
        "upload-name", "An upload keeps the name or the ending that its sender chose", (434,),
        "A file that ends as a program does is run by the server when its address is opened.",
        "Choose the ending from a list by what the file holds, and the name yourself.", severity="medium",
    ),
    "skipped": _rule(
        "check-skipped", "A signature is checked only where one was sent", (347, 636),
        "Whoever leaves the signature away is let in without a check.",
        "Refuse requests without it: if (!signature || !verify(signature)).", topic="authentication",
    ),
    "proto": _rule(
        "prototype-pollution", "A request is merged into an object with its keys", (1321,),
        "A key such as __proto__ changes every object of the program.",
        "Copy known keys only, or refuse __proto__, constructor and prototype.", severity="medium",
    ),
    "mass": _rule(
        "mass-assignment", "A request sets any attribute of a record", (915,),
        "The sender sets what no form shows: a role, an owner, a price.",
        "Name the attributes that a request may set.", severity="medium",
    ),
    "regex": _rule(
        "regex-from-request", "A request decides a regular expression", (1333, 730),
        "A pattern can be slow enough to stop the server.",
        "Escape the value, or compare texts without patterns.", severity="low",
    ),
}  # fmt: skip
"""The rules by the kind of sink (gate/taint)."""
RULES: Final = tuple(BY_SINK.values())
PAGE: Final = """
## How it looks

A value is followed from a request (or what a language model answers, or the command line) through
variables, members, texts that are put together, functions of the file and of files of the project,
to the call that must not get it. What is bound as a parameter, a number, one of a list, below a
folder, escaped for that place, or in a branch that never runs is no finding. Through a function
that nobody can read the finding is one step lower.
"""
