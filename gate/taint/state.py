"""What is known at one place of a program, and behind several ways that meet."""

from __future__ import annotations

from dataclasses import field

from gate.dataclass import dataclass
from gate.taint.checks import Facts, any_of
from gate.taint.values import Value, joined


@dataclass
class State:
    """What is known at one place."""

    env: dict[str, Value] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)
    known: dict[str, tuple[Facts, Facts]] = field(default_factory=dict)
    ended: bool = False

    def copy(self) -> State:
        """The same, to be changed by one branch."""
        return State(dict(self.env), dict(self.facts), dict(self.known), self.ended)


@dataclass
class Open:
    """A function that is being read."""

    number: int
    name: str
    owner: str
    line: int
    parameters: list[str]
    returns: list[Value] = field(default_factory=list)
    is_entry: bool = False


def joined_states(states: list[State]) -> State:
    """What is known behind several ways of which one was taken."""
    going = [one for one in states if not one.ended]
    if not going:
        made = states[0] if states else State()
        made.ended = True
        return made
    if len(going) == 1:
        return going[0]
    env = dict(going[0].env)
    for other in going[1:]:
        for name, value in other.env.items():
            had = env.get(name)
            env[name] = value if had is None or had is value else joined([had, value])
    facts = any_of([one.facts for one in going])
    # a value that is safe on its own way stays so where ways meet
    for one in going:
        for name, value in one.env.items():
            if one.facts and value.atoms and any(other.env.get(name) is not value for other in going):
                atoms = {a: t | one.facts.get(a, frozenset()) for a, t in value.atoms.items()}
                others = [other.env[name] for other in going if other is not one and name in other.env]
                env[name] = joined([Value(atoms, value.path, value.kind, value.const, value.fields), *others])
    known = {
        key: pair for key, pair in going[0].known.items() if all(one.known.get(key) == pair for one in going)
    }
    return State(env, facts, known)
