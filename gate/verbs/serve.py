"""`gate serve`: the GitHub App."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.errors import Exit, UsageError
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from gate.serve.interface import Handle, Queue
    from gate.serve.tokens import Tokens


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
    checks = parser.add_argument_group("checks", "Without these the app answers for deployments alone.")
    checks.add_argument("--checks", action="store_true", help="look at pull requests and merge queues, too")
    checks.add_argument(
        "--looks",
        type=int,
        default=1,
        metavar="NUMBER",
        help="so many at a time in this process (default: 1)",
    )
    checks.add_argument(
        "--clones",
        type=Path,
        default=Path("gate-clones"),
        metavar="DIR",
        help="bare clones, on a local disk (default: gate-clones)",
    )
    checks.add_argument(
        "--server-url", metavar="URL", help="default: $GITHUB_SERVER_URL, else https://github.com"
    )
    checks.add_argument(
        "--backend", metavar="NAME", help="as `gate check --backend` (default: the settings at base)"
    )
    here = parser.add_argument_group("here")
    where = here.add_mutually_exclusive_group(required=True)
    where.add_argument("--database", type=Path, metavar="FILE", help="deliveries, on a local disk (SQLite)")
    where.add_argument(
        "--queue",
        type=Path,
        metavar="FILE",
        help="a file with the address of a PostgreSQL database (postgresql://...), for several machines",
    )
    here.add_argument(
        "--only",
        choices=("listen", "work"),
        help="with --queue: take webhooks and leave the work to others, or the other way round",
    )
    here.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    here.add_argument("--port", type=int, default=8080, help="0: any free one, printed (default: 8080)")
    here.add_argument(
        "--api-url", metavar="URL", help="default: $GITHUB_API_URL, else https://api.github.com"
    )


def _run(arguments: argparse.Namespace) -> int:
    try:
        from gate.serve.run import Part, serve
    except ImportError as error:
        raise UsageError(
            f"gate serve needs {error.name}", advice="Install it with: pip install 'gate-ci[serve]'"
        ) from error
    from gate.deploy.report_statement import read_file
    from gate.serve.tokens import Tokens

    if arguments.only and arguments.queue is None:
        raise UsageError("--only needs --queue: a file on this disk has one process")
    url = arguments.api_url or os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    key = read_file(arguments.private_key, 1 << 16).decode("ascii", "replace")
    tokens = Tokens(arguments.app_id, key, url)
    secrets = [read_file(file, 1 << 12).strip() for file in arguments.secret]
    if any(len(secret) < 16 for secret in secrets):
        raise UsageError("a webhook secret needs at least 16 bytes", advice="openssl rand -hex 32 makes one")
    place: Path | str = arguments.database
    if arguments.queue is not None:
        place = read_file(arguments.queue, 1 << 12).decode("utf-8", "replace").strip()
    works = arguments.only != "listen"
    serve(
        place,
        secrets,
        _handler(arguments, tokens),
        host=arguments.host,
        port=arguments.port,
        part=Part(
            looks=max(1, arguments.looks) if arguments.checks and works else 0,
            listens=arguments.only != "work",
            works=works,
        ),
    )
    return Exit.OK


def _handler(arguments: argparse.Namespace, tokens: Tokens) -> Callable[[Queue], Handle]:
    from gate.serve.checks import Checks
    from gate.serve.looking import Looker
    from gate.serve.webhooks import Answers

    server = arguments.server_url or os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
    server = server.rstrip("/")
    options = ("--backend", arguments.backend) if arguments.backend else ()

    def handler(queue: Queue) -> Handle:
        checks = None
        if arguments.checks:
            folder = arguments.clones.absolute()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            checks = Checks(
                queue, tokens, Looker(folder=folder, server=server, options=options), server=server
            )
        return Answers(queue, tokens.api, checks).handle

    return handler


VERB: Final = Verb(
    name="serve",
    summary="run checks and answer deployment protection rules, as a GitHub App",
    description="Takes signed webhooks on /webhook and keeps each on disk before it is acknowledged. With "
    "--checks it looks at pull requests and entries of merge queues and writes the check under its own name; "
    "it approves or rejects deployments by the commit's verdict. /healthz, /readyz, /metrics. SIGTERM: "
    "finishes what it is at and ends; what is left is taken up at the next start.",
    epilog="examples:\n"
    "  gate serve --app-id 1 --private-key app.pem --secret hook.secret --database gate.db --checks\n"
    "  gate serve --app-id 1 --private-key app.pem --secret hook.secret \\\n"
    "    --queue queue.url --checks --only work",
    arguments=_arguments,
    run=_run,
)
