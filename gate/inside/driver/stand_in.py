"""Stands in for packages that the sandbox does not have, so that the code behind their import still runs.

Used in a second try only, after the first one ended for want of a module; the report goes on saying what
was missing. Anything asked of such a package is a Ghost: callable, iterable, a decorator, a base class.
HTTP clients are given a real request to make, because where the code wants to go is what matters.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from typing import Any

from . import argument_values

HTTP_CLIENTS = frozenset({"requests", "httpx", "urllib3", "aiohttp", "httplib2", "treq", "niquests"})
_VERBS = frozenset(
    {"get", "post", "put", "delete", "head", "patch", "options", "request", "urlopen", "stream"}
)
_WAIT = 2.0


class GhostBase:
    """What a class of the tree inherits from when its base was a ghost."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        return

    def __init_subclass__(cls, **kwargs: object) -> None:
        return

    def __getattr__(self, name: str) -> object:
        return attribute_of("", name)


class Ghost:
    """One thing of a missing package. ``path`` is its dotted name. Deliberately without ``__index__``:
    ``open`` would take it for the number of a descriptor.
    """

    def __init__(self, path: str) -> None:
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        return attribute_of(self._path, name)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        top, _, rest = self._path.partition(".")
        if top in HTTP_CLIENTS and rest.rpartition(".")[2] in _VERBS:
            return _request(self._path, args, kwargs)
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            failure = isinstance(args[0], type) and issubclass(args[0], BaseException)
            return Ghost(self._path + "()") if failure else args[0]  # as a decorator gives it back
        return Ghost(self._path + "()")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        real = any(isinstance(b, type) and issubclass(b, GhostBase) for b in bases)
        first = next((b for b in bases if isinstance(b, Ghost)), None)
        return (GhostBase,) if first is self and not real else ()

    def __iter__(self) -> Any:
        return iter([Ghost(self._path + "[]")])

    def __next__(self) -> Any:
        raise StopIteration

    def __getitem__(self, key: object) -> Any:
        return Ghost(self._path + "[]")

    def __setitem__(self, key: object, value: object) -> None:
        return

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> bool:
        return bool(self._path == "pytest.raises()")

    async def __aenter__(self) -> object:
        return self

    async def __aexit__(self, *args: object) -> None:
        return

    def __await__(self) -> Any:
        yield from ()
        return self

    def __len__(self) -> int:
        return 1

    def __int__(self) -> int:
        return 3

    def __float__(self) -> float:
        return 3.0

    def __str__(self) -> str:
        return str(argument_values.WORD)

    def __bytes__(self) -> bytes:
        return str(argument_values.WORD).encode()

    def __fspath__(self) -> str:
        return str(argument_values.TEXT_FILE)

    def __contains__(self, key: object) -> bool:
        return False

    def _same(self, *others: object) -> object:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __or__ = __ror__ = __and__ = __mod__ = __floordiv__ = __pow__ = __neg__ = __matmul__ = _same

    def _no(self, other: object) -> bool:
        return False

    __lt__ = __gt__ = __le__ = __ge__ = _no


def attribute_of(path: str, name: str) -> Any:
    """An attribute of a ghost: exceptions are real classes, special names do not exist."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    if name.endswith(("Error", "Exception", "Warning", "Timeout")):
        return _ERRORS.setdefault(name, type(name, (OSError,), {}))
    return Ghost(f"{path}.{name}")


_ERRORS: dict[str, type] = {}


def _request(path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the request that the code asked its client for, with a short wait."""
    import urllib.error
    import urllib.parse
    import urllib.request

    words = [str(a) for a in (*args, kwargs.get("method"), kwargs.get("url")) if isinstance(a, str)]
    url = next((word for word in words if "://" in word), "")
    if not url:
        return Ghost(path + "()")
    verb = path.rpartition(".")[2].upper()
    method = verb if verb.lower() in _VERBS - {"request", "urlopen", "stream"} else words[0].upper()
    body = kwargs.get("data", kwargs.get("json", kwargs.get("content", kwargs.get("body"))))
    if isinstance(body, dict):
        body = urllib.parse.urlencode({str(k): str(v) for k, v in body.items()})
    data = body if isinstance(body, (bytes, type(None))) else str(body).encode("utf-8", "replace")
    headers = kwargs.get("headers")
    named = {str(k): str(v) for k, v in headers.items()} if isinstance(headers, dict) else {}
    answer = Ghost(path + "()")
    answer.status_code = answer.status = 200
    answer.text, answer.content = "", b""
    request = urllib.request.Request(url, data=data, headers=named)
    request.method = method if method.isalpha() and "://" not in method else None
    try:
        with urllib.request.urlopen(request, timeout=_WAIT) as said:
            answer.content = said.read(1 << 20)
            answer.text = answer.content.decode("utf-8", "replace")
            answer.status_code = answer.status = said.status
    except urllib.error.HTTPError as error:
        answer.status_code = answer.status = error.code
    except (OSError, ValueError):
        raise attribute_of(path, "ConnectionError")("no answer") from None
    return answer


class Finder:
    """Asked last: finds every module that nobody else has. Of the tree's own packages that is what a
    build would have made. Without importlib.abc, whose import is a tenth of a driver's start.
    """

    def __init__(self, roots: list[str]) -> None:
        self._roots = roots

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """A spec that loads a ghost, None for the standard library and for real packages."""
        top = name.partition(".")[0]
        if top in getattr(sys, "stdlib_module_names", sys.builtin_module_names) or top.startswith("_"):
            return None
        known = any(
            os.path.exists(os.path.join(root, top + end)) for root in self._roots for end in ("", ".py")
        )
        parent = sys.modules.get(top)
        if not known and parent is not None and not isinstance(getattr(parent, "__loader__", None), Finder):
            return None  # a package that is really there lacks this part: an error of the code
        if known and "." not in name:
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)

    def create_module(self, spec: object) -> Any:
        """A module whose every attribute is a ghost."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing runs; attributes are made when asked for."""
        name = module.__name__
        vars(module)["__getattr__"] = lambda attribute: attribute_of(name, attribute)
        vars(module)["__version__"] = vars(module)["version"] = "1.0"
        vars(module)["__version_tuple__"] = vars(module)["version_tuple"] = (1, 0)


def install(roots: list[str]) -> None:
    """From now on an import of a missing package gives a stand-in."""
    import importlib.metadata

    sys.meta_path.append(Finder(roots))
    version = importlib.metadata.version

    def some_version(distribution_name: str) -> str:
        try:
            return version(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            return "1.0"

    importlib.metadata.version = some_version
