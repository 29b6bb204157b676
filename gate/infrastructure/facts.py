"""What one file of configuration says: rights that it grants, protections that it sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from gate.model.rule import Severity

Sort = Literal["grant", "guard"]


class Fact(msgspec.Struct, frozen=True):
    """One right or protection. ``what`` is a key of GRANTS or GUARDS; ``subject`` names who has it, without
    the file's path, so that it is found again where it was moved; ``line`` is 1-based; ``text`` is evidence.
    """

    sort: Sort
    what: str
    subject: str
    line: int = 1
    text: str = ""


class Width(msgspec.Struct, frozen=True):
    """How much one setting lets through. ``what`` is a key of WIDTHS; it is compared with base's of the same
    ``subject``. ``members`` are those it trusts or allows; of ``measure``, more is weaker;
    up to ``slack`` more is not told. Of ``covered``, a member that is gone is told; of ``allowed``, a pattern
    that takes in what base named.
    """

    what: str
    subject: str
    line: int = 1
    text: str = ""
    members: list[str] = []
    measure: float = 0.0
    slack: float = 0.0


class FileFacts(msgspec.Struct, frozen=True):
    """Of one file: its facts, every subject that it has, guarded or not, and what its values are worth."""

    facts: list[Fact] = []
    subjects: list[str] = []
    widths: list[Width] = []
    places: dict[str, int] = {}
    """Lines of subjects that no fact of head names."""

    @classmethod
    def of(cls, found: Iterable[Fact | Width], subjects: Sequence[str]) -> FileFacts:
        """What a reader found, in the order that it came."""
        said = list(found)
        return cls(
            facts=[one for one in said if isinstance(one, Fact)],
            subjects=list(subjects),
            widths=[one for one in said if isinstance(one, Width)],
        )


class Kind(NamedTuple):
    """The sentence that is told, and how grave it is where base has nothing like it."""

    message: str
    severity: Severity


_C, _H, _M = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM
GRANTS: Final[Mapping[str, Kind]] = {
    "host-files": Kind("A pod is given files of the machine it runs on.", _H),
    "host-network": Kind("A pod shares the machine's network.", _M),
    "every-right": Kind("Everything is allowed on everything.", _H),
    "all-but": Kind("Everything is allowed but what is named.", _M),
    "cluster-admin": Kind("Somebody becomes administrator of the cluster.", _H),
    "to-anybody": Kind("A right is given to everybody, without authentication.", _H),
    "escalates": Kind("A role may give itself or others more rights.", _H),
    "open-port": Kind("A port for administration or data is open to the whole internet.", _H),
    "open-other-port": Kind("A port is open to the whole internet.", _M),
    "public-data": Kind("Stored data can be read by everybody.", _H),
    "runs-as-root": Kind("A service runs as root that did not at base.", _H),
    "strong-capability": Kind("A service is given a capability that is as good as root.", _H),
    "sent-elsewhere": Kind("Requests are handed on to a foreign address.", _H),
    "password-free-root": Kind("Root's rights are given without a password.", _H),
    "login-key": Kind("Somebody's key may log in.", _H),
    "rows-open": Kind("The database no longer hides rows from those who may not see them.", _H),
    "rows-to-all": Kind("A right on tables is given to everybody who reaches the database.", _H),
    "runs-as-owner": Kind("A function of the database runs with its owner's rights, whoever calls it.", _M),
    "admin-given": Kind("A migration makes somebody an administrator, or everybody by default.", _H),
    "unreadable": Kind("A manifest is written so that not every parser reads it alike.", _H),
    "script-elsewhere": Kind("A page runs a script of another origin.", Severity.LOW),
    "form-elsewhere": Kind("A form is sent to another origin.", _H),
    "typed-sent": Kind("A page sends what its visitors type or are known by to another origin.", _C),
    "stand-in": Kind("A module's name stands for a test double or another package than its own file.", _M),
    "log-in-optional": Kind("One of several conditions is enough to come in, where base asked for all.", _H),
    "header-lets-in": Kind("What a client says of itself lets it in, beside those who log in.", _H),
    "image-of-anybody": Kind("A machine image is chosen by its name, whoever published it.", _M),
    "secret-logged": Kind("A log writes down what proves who a visitor is.", _H),
    "copied-elsewhere": Kind("Requests or logs are also sent to another place.", _M),
    "packed-secret": Kind("A package ships files that hold secrets by their name.", _M),
    "from-anybody": Kind("A service reads its settings or program from where everybody may write.", _H),
    "root-by-group": Kind("A service joins a group that is as good as root.", _H),
    "writes-system": Kind("A service may write to the system's own folders.", _H),
    "engine-open": Kind("A socket of an engine or database is opened to the network or to everybody.", _H),
    "artifact-secret": Kind("What a pipeline keeps for others to download holds secrets of the run.", _H),
    "artifact-whole": Kind("What a pipeline keeps for others to download is its whole folder.", _M),
    "tool-code": Kind("A linter or test tool loads code that it did not load at base.", _M),
    "tool-text": Kind("A linter runs a text of its settings as code.", _H),
    "secret-shown": Kind("A value that base kept secret is shown.", _H),
    "review-hidden": Kind("Changes to code are no longer shown to who reviews them.", _M),
    "route-unguarded": Kind("A route leads past what guards the same service elsewhere.", _H),
    "unescaped": Kind("A page shows a value unescaped that base escaped.", _H),
    "alias-open": Kind("A path of a web server leads out of the folder that it is given.", _M),
}
GUARDS: Final[Mapping[str, Kind]] = {
    "authentication": Kind("Authentication that base asked for is gone.", _H),
    "switched-on": Kind("A protection that base had switched on is off.", _H),
    "content-policy": Kind("The content security policy that base sent is gone.", _H),
    "response-header": Kind("A response header that protects visitors is gone.", _M),
    "rate-limit": Kind("A limit on requests is gone.", _M),
    "integrity": Kind("A script of another origin is no longer checked by its digest.", _H),
    "csrf-token": Kind("A form lost its token against forged requests.", _H),
    "escaped": Kind("A page no longer escapes a value.", _H),
    "confinement": Kind("A service or container is confined less than at base.", _M),
    "own-user": Kind("A service no longer runs as a user of its own.", _M),
    "network-policy": Kind("A network policy of the cluster is gone.", _M),
    "public-block": Kind("The block on public access to stored data is gone.", _H),
    "encryption": Kind("Stored data is no longer encrypted.", _M),
    "deletion-protection": Kind("Data is no longer protected from deletion.", _M),
    "recorded": Kind("What happens is recorded less than at base.", _M),
    "unpublished": Kind("A package that was private may be published.", _M),
    "own-module": Kind("A module's name no longer stands for a file of the project.", _M),
    "condition": Kind("A right that base gave on a condition is given without it.", _H),
    "secret": Kind("A value that base kept secret is shown.", _H),
    "kept-out": Kind("Secrets or version control are no longer kept out of what is shipped.", _M),
    "transport": Kind("A connection is no longer encrypted or checked.", _H),
}
WIDTHS: Final[Mapping[str, Kind]] = {
    "trusted": Kind("A list of who or what is trusted has a new member.", _M),
    "more-rights": Kind("A role or policy allows more than at base.", _M),
    "weaker": Kind("A protection is set to a weaker value than at base.", _M),
    "covered": Kind("A protection no longer covers what it covered at base.", _M),
    "allowed": Kind("A pattern allows more than what base allowed by name.", _M),
    "anybody": Kind("A list of who is trusted now has everybody on it.", _H),
}
"""Told where a setting's value lets more through than base's. ``anybody`` is what ``trusted`` becomes."""
SUPERSEDED: Final[Mapping[str, str]] = {
    "unescaped": "escaped",
    "runs-as-root": "own-user",
    "stand-in": "own-module",
}
"""Grants that are told only where base had the guard for the same subject (and then instead of it)."""
