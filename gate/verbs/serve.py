"""`gate serve`: the GitHub App."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from gate.errors import Exit, UsageError
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    app = parser.add_argument_group("the app")
    app.add_argument("--app-id", type=int, required=True, metavar="NUMBER", help="the GitHub App's id")
    app.add_argument(
        "--private-key", type=Path, required=True, metavar="FILE", help="the app's private key (PEM)"
    )
    app.add_argument(
        "--secret",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="the webhook's secret; twice while it is being replaced",
    )
    here = parser.add_argument_group("here")
    here.add_argument(
        "--database", type=Path, required=True, metavar="FILE", help="deliveries, on a local disk"
    )
    here.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    here.add_argument("--port", type=int, default=8080, help="0: any free one, printed (default: 8080)")
    here.add_argument(
        "--api-url", metavar="URL", help="default: $GITHUB_API_URL, else https://api.github.com"
    )


def _run(arguments: argparse.Namespace) -> int:
    try:
        from gate.serve.run import serve
    except ImportError as error:
        raise UsageError(
            f"gate serve needs {error.name}", advice="Install it with: pip install 'gate-ci[serve]'"
        ) from error
    from gate.deploy.report_statement import read_file
    from gate.serve.webhooks import Answers, Tokens

    url = arguments.api_url or os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    key = read_file(arguments.private_key, 1 << 16).decode("ascii", "replace")
    tokens = Tokens(arguments.app_id, key, url)
    secrets = [read_file(file, 1 << 12).strip() for file in arguments.secret]
    if any(len(secret) < 16 for secret in secrets):
        raise UsageError("a webhook secret needs at least 16 bytes", advice="openssl rand -hex 32 makes one")
    serve(
        arguments.database,
        secrets,
        lambda store: Answers(store, tokens.api).handle,
        host=arguments.host,
        port=arguments.port,
    )
    return Exit.OK


VERB: Final = Verb(
    name="serve",
    summary="answer GitHub's deployment protection rules, as a GitHub App",
    description="Takes signed webhooks on /webhook, keeps each on disk before it is acknowledged, and "
    "approves or rejects deployments by the commit's verdict. /healthz, /readyz, /metrics. SIGTERM: finishes "
    "what it is at and ends; what is left is taken up at the next start.",
    epilog="example: gate serve --app-id 1 --private-key app.pem --secret hook.secret --database gate.db",
    arguments=_arguments,
    run=_run,
)
