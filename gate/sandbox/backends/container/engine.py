"""Finds a container engine that speaks Docker's API: Docker's own socket, rootless Docker, Podman."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from docker import DockerClient
from docker.errors import DockerException
from requests.exceptions import RequestException

from gate.errors import InconclusiveError
from gate.sandbox.backends.container.engine_socket import UnixAdapter

API_ERRORS: Final = (DockerException, RequestException, OSError, KeyError)
"""What a call to the engine may raise when the engine, not the code under test, is at fault."""

ANY_API: Final = "1.41"
"""What every engine that we know speaks."""
_CONNECTIONS: Final = 32
_UNIX: Final = "unix://"
_HURRY_SECONDS: Final = 5.0
INSTALL_HINT: Final = (
    "Start it (`sudo systemctl start docker`, or `make setup` in a checkout), install Docker or Podman, "
    "or use `--backend bubblewrap`, which needs no engine."
)


class Engine(DockerClient):
    """A client with a second, impatient self for what must not wait: an engine may hang, a run may not."""

    short_timeout: DockerClient | None = None
    program: str = "?"
    """What answers, as it names itself: ``Docker/20.10.24 (linux)``."""

    def __init__(self, *, base_url: str, version: str, timeout: int) -> None:
        """Asks nothing yet: ``version`` is the interface's (``1.41``)."""
        super().__init__(base_url=base_url, version=version, timeout=timeout, max_pool_size=_CONNECTIONS)
        if base_url.startswith(_UNIX):
            self.api.get_adapter(self.api.base_url).close()
            adapter = UnixAdapter(
                f"http+{base_url}", timeout, pool_connections=_CONNECTIONS, max_pool_size=_CONNECTIONS
            )
            self.api.mount("http+docker://", adapter)

    def close(self) -> None:
        """Both connections."""
        if self.short_timeout is not None:
            self.short_timeout.close()
        super().close()


def short_timeout_client(client: DockerClient) -> DockerClient:
    """The impatient client where there is one: each call takes 5 seconds at most."""
    return client.short_timeout if isinstance(client, Engine) and client.short_timeout else client


def is_docker(client: DockerClient) -> bool:
    """Docker itself, not another engine that speaks its language."""
    return _program(client).startswith("Docker/")


def is_podman(client: DockerClient) -> bool:
    """Podman's service, behind its Docker-compatible interface."""
    return _program(client).startswith("Libpod/")


def version(client: DockerClient) -> str:
    """The version of the program that answers, as far as it says it: ``20.10.24``."""
    return _program(client).partition("/")[2].partition(" ")[0]


def _program(client: DockerClient) -> str:
    return str(getattr(client, "program", ""))


def candidates() -> tuple[str, ...]:
    """Addresses to try, first choice first. ``DOCKER_HOST`` alone counts when it is set."""
    chosen = os.environ.get("DOCKER_HOST")
    if chosen:
        return (chosen,)
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = (
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    )
    return tuple(f"unix://{path}" for path in sockets if Path(path).exists())


def connect(*, deadline: float = 5.0, timeout: float = 60.0) -> Engine:
    """A client of the first engine that answers within ``deadline`` seconds.

    ``timeout`` (seconds) is what later calls of the client may take. Raises InconclusiveError naming
    every address tried and why it did not do.
    """
    tried = []
    for address in candidates():
        try:
            client = _client(address, deadline)
        except API_ERRORS as error:
            tried.append(f"{address}: {_cause(error)}")
            continue
        client.api.timeout = int(timeout)
        return client
    why = "; ".join(tried) or "no engine socket exists on this machine"
    raise InconclusiveError(f"no container engine answers ({why})", advice=INSTALL_HINT)


def _client(address: str, deadline: float) -> Engine:
    """A client of the engine's own API version."""
    with contextlib.closing(_at(address, ANY_API, deadline)) as asking:
        # What `version` tells costs Docker half a dozen processes each time (runc --version ...).
        said = asking.api.get(f"{asking.api.base_url}/_ping", timeout=deadline)
        said.raise_for_status()
        version = said.headers["Api-Version"]
    client = _at(address, version, deadline)
    client.program = said.headers.get("Server", "?")
    client.short_timeout = _at(address, version, _HURRY_SECONDS)
    return client


def _at(address: str, version: str, deadline: float) -> Engine:
    return Engine(base_url=address, version=version, timeout=int(deadline))


def _cause(error: BaseException) -> str:
    """The innermost reason, one line: the engine library wraps errors three deep."""
    seen = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    if isinstance(seen, OSError) and seen.strerror:
        return seen.strerror
    return " ".join(str(seen).split())[:200]
