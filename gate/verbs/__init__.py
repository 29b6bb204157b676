"""One file per verb of the command line; this table is their order in `gate --help`."""

from __future__ import annotations

from typing import Final

from gate.verbs import (
    action,
    attribute,
    audit,
    cache,
    check,
    completion,
    deploy,
    doctor,
    explain,
    init,
    isolation,
    lsp,
    mcp,
    note,
    publish,
    replay,
    report,
    rules,
    run,
    serve,
    sign,
    verify,
)
from gate.verbs.interface import Verb

VERBS: Final[tuple[Verb, ...]] = (
    check.VERB,
    run.VERB,
    init.VERB,
    publish.VERB,
    note.VERB,
    attribute.VERB,
    replay.VERB,
    report.VERB,
    explain.VERB,
    rules.VERB,
    doctor.VERB,
    cache.VERB,
    isolation.VERB,
    audit.VERB,
    action.VERB,
    sign.VERB,
    verify.VERB,
    deploy.VERB,
    serve.VERB,
    mcp.VERB,
    lsp.VERB,
    completion.VERB,
)
