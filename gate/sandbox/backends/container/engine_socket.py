"""The engine library's way over a Unix socket, without its leak: where connecting failed, it leaves the
socket to the garbage collector (docker-py 7.1, transport/unixconn.py).
"""

from __future__ import annotations

import socket
from typing import Any

from docker.transport import unixconn


class _Connection(unixconn.UnixHTTPConnection):
    def connect(self) -> None:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.settimeout(self.timeout)
            made.connect(self.unix_socket)
        except BaseException:
            made.close()
            raise
        self.sock = made


class _Pool(unixconn.UnixHTTPConnectionPool):
    def _new_conn(self) -> Any:
        seconds: Any = self.timeout  # a number, whatever urllib3's own pools keep there
        return _Connection(self.base_url, self.socket_path, seconds)


class UnixAdapter(unixconn.UnixHTTPAdapter):
    """As the library's, but a connection that could not be made leaves nothing."""

    def get_connection(self, url: str | bytes, proxies: object = None) -> _Pool:  # noqa: ARG002
        """The pool for this address."""
        with self.pools.lock:
            pool: _Pool | None = self.pools.get(url)
            if pool is None:
                pool = _Pool(
                    url if isinstance(url, str) else url.decode(),
                    self.socket_path,
                    self.timeout,
                    maxsize=self.max_pool_size,
                )
                self.pools[url] = pool
        return pool
