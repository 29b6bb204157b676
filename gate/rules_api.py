"""How a rule is declared: one decorator for rules on syntax trees, on text and on behaviour.

A folder of rules has one ``RuleKind``, called ``rule``. It knows what a check is given and what it yields::

    @rule("py.old-tls", "Broken version of TLS", severity="medium", confidence="high", topic="tls", ...)
    def check(module: Module) -> Iterator[Hit]: ...

``check`` is then a ``Rule``, and its body reads what the rule says about itself as ``check.meta``.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Generic, Literal, NotRequired, TypedDict, TypeVar, Unpack

from gate.dataclass import dataclass
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity

Subject = TypeVar("Subject")
Result = TypeVar("Result")


class Facts(TypedDict):
    """What a rule says besides its id and title; the fields of ``RuleMeta``, levels given as words.

    ``why`` and ``fix`` are its ``help`` and ``remediation``: one or two plain sentences each.
    """

    severity: Literal["low", "medium", "high", "critical"]
    confidence: Literal["low", "medium", "high"]
    topic: str
    why: str
    fix: str
    cwe: NotRequired[tuple[int, ...]]
    attack: NotRequired[tuple[str, ...]]
    languages: NotRequired[tuple[str, ...]]


@dataclass(frozen=True)
class Rule(Generic[Subject, Result]):
    """A rule: what it says about itself, its check, and its page (Markdown for `gate explain`).

    ``check`` is pure: it reads its subject and yields results; it never raises for odd input.
    """

    meta: RuleMeta
    check: Callable[[Subject], Iterable[Result]]
    page: str
    weakness: bool = True
    """A weakness (careless code) counts as low in files that only tests run; an attack never does."""


@dataclass(frozen=True)
class RuleKind(Generic[Subject, Result]):
    """The decorator of one folder. ``page`` names the docstring that is a rule's page: with one rule a file
    that of its module, else that of its check.
    """

    stage: FindingStage
    languages: tuple[str, ...] = ()
    page: Literal["module", "check"] = "module"

    def __call__(
        self, rule_id: str, title: str, *, weakness: bool = True, **facts: Unpack[Facts]
    ) -> Callable[[Callable[[Subject], Iterable[Result]]], Rule[Subject, Result]]:
        """Make the decorated check a ``Rule``."""
        meta = self.meta(rule_id, title, **facts)

        def declare(check: Callable[[Subject], Iterable[Result]]) -> Rule[Subject, Result]:
            home = sys.modules[check.__module__] if self.page == "module" else check
            return Rule(meta, check, inspect.cleandoc(home.__doc__ or "").strip(), weakness)

        return declare

    def meta(self, rule_id: str, title: str, **facts: Unpack[Facts]) -> RuleMeta:
        """The same for a rule without a check of its own: where one pass of a scanner serves several."""
        return RuleMeta(
            id=rule_id,
            title=title,
            stage=self.stage,
            severity=Severity(facts["severity"]),
            confidence=Confidence(facts["confidence"]),
            help=facts["why"],
            remediation=facts["fix"],
            topic=facts["topic"],
            cwe=facts.get("cwe", ()),
            attack=facts.get("attack", ()),
            languages=facts.get("languages", self.languages),
        )

    def in_folder(self, package: str) -> tuple[Rule[Subject, Result], ...]:
        """The rule of every file in a package, ordered by id.

        Raises TypeError for a file that declares none, several or one of another stage, and ValueError for
        two rules of one id.
        """
        rules: dict[str, Rule[Subject, Result]] = {}
        for info in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            values = vars(import_module(info.name)).values()
            own = [v for v in values if isinstance(v, Rule) and v.check.__module__ == info.name]
            if len(own) != 1 or own[0].meta.stage is not self.stage:
                raise TypeError(f"{info.name} does not declare one {self.stage.value} rule")
            if own[0].meta.id in rules:
                raise ValueError(f"two {self.stage.value} rules are called {own[0].meta.id}")
            rules[own[0].meta.id] = own[0]
        return tuple(rules[rule_id] for rule_id in sorted(rules))
