"""Look-ups of machine images that anybody may answer: by name, newest first, without an owner.

Accounts publish images under any name. Who asks for the newest of a name without saying whose gets the one
that was published last, be it an attacker's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.infrastructure.facts import Fact

_LOOKUPS: Final = frozenset(("aws_ami", "aws_ami_ids", "amazon-ami", "source_ami_filter", "alicloud_images"))
"""Kinds of blocks: Terraform's data, Packer's data and the filter of its builders."""
_OWNING: Final = frozenset(("owner-id", "owner-alias", "image-id", "product-code"))
_ANYBODY: Final = frozenset(("*", "all"))
_ANSWERED: Final = ("owners", "owner_id", "image_id", "image_owner_id", "owners_ids")


def unowned_image(
    kind: str,
    values: Mapping[str, object],
    filters: Sequence[tuple[str, frozenset[str]]],
    subject: str,
    line: int,
) -> Iterator[Fact]:
    """Of a block of this kind, with its filters as name and values. A table of filters is one as well."""
    if kind not in _LOOKUPS or not (subject.startswith(("data ", "source ")) or kind == "source_ami_filter"):
        return
    table = values.get("filters")
    names = {name for name, _ in filters} | set(table if isinstance(table, dict) else ())
    said = next((values[name] for name in _ANSWERED if name in values), None)
    owners = set(said) if isinstance(said, list) else {str(said)} if said is not None else set()
    if names & _OWNING or owners - _ANYBODY:
        return
    asked = next((" ".join(sorted(found)) for name, found in filters if name == "name"), "")
    asked = asked or str(values.get("name_regex", ""))
    text = f"{subject}: {asked or 'any name'}, of any owner"[:160]
    yield Fact("grant", "image-of-anybody", subject, line, text)
