"""Files: what was read, written, deleted, linked and made executable outside the ordinary."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final

from gate.inside.observer.text import bytes_of
from gate.model.behaviour import BehaviourKind as Kind
from gate.model.canary import Canary
from gate.regex import regex
from gate.tracing.behaviour.accumulator import IGNORED, Cell, Cells
from gate.tracing.behaviour.environment_probes import probe_of
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.behaviour.paths import INSTALLED, PathClass, classify_path
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.behaviour.rewrites import Rewrites, many
from gate.tracing.events import File, Open, PathQuery

_KEPT: Final = 20_000
_LEAKY: Final = 40
_PATH: Final = frozenset(("/usr/local/bin", "/usr/bin", "/bin"))
_SHELLS: Final = ("sh", "bash", "zsh", "ksh")
_START_UP: Final = regex(
    r"~/\.(?:bashrc|bash_profile|bash_login|bash_history|profile|zshrc|zshenv|ssh/.+|aws/.+|netrc|pypirc|git-credentials)"
)
PIP: Final = regex(r".*/bin/pip[\d.]*\Z", re.DOTALL)
"""What an environment is filled by; who wrote it counts."""
_INSTALLERS: Final = frozenset({"python", "python>uv"})
"""Chains of gate's own installer, pip or uv. What builds a package is started by it, and has a longer one."""
_READLINE: Final = "~/.inputrc"
"""What the line editor's library reads when it is loaded."""
_PWNAM: Final = ("/etc/passwd", "/etc/group")
_INTERPRETERS: Final = ("python", "node", "deno", "ruby", "perl", "php")
"""Programs that read what code tells them to; of the others, several that a shell starts are alike."""
_SURVEYED: Final = frozenset((
    "", "~", "/home", "/etc", "/opt", "/usr", "/usr/local", "/usr/bin", "/bin", "/sbin", "/usr/sbin", "/lib",
    "/usr/lib", "/var", "/media", "/run", "/sys", "/boot",
))  # fmt: skip
"""Folders that are listed to see what a machine has. Libraries ask for names in them, no more."""
_OWN_PROGRAM: Final = "/proc/self/exe"
"""Opened for writing it is the program that runs, whose name could not be told any more: never ignored."""
_WORLD: Final = frozenset(("home", "system", "proc", "sys", "own", "names", "quiet", "device"))


class FileView:
    """Keeps which paths the run made itself (bounded), because those are its own business."""

    def __init__(
        self,
        cells: Cells,
        actors: Actors,
        channels: Channels,
        canaries: tuple[Canary, ...],
        named: frozenset[str] = frozenset(),
        rewrites: Rewrites | None = None,
        *,
        installer: bool = False,
    ) -> None:
        """``installer``: the run is gate's own installation of packages."""
        self._cells, self._actors, self._channels = cells, actors, channels
        self._canaries = {c.path: c.name for c in canaries if c.path}
        self._canaries |= {p.replace("/var/run/", "/run/", 1): n for p, n in self._canaries.items()}
        self._named = named
        self._installers = _INSTALLERS if installer else frozenset[str]()
        self._made: set[str] = set()
        self._wanted: dict[tuple[str, str], set[str]] = {}
        self.executed: set[str] = set()
        self._laid: set[str] = set()
        self._dirs: set[str] = set()
        self._asks_names: dict[int, str] = {}
        """Processes that looked up how names are found, with their chains."""
        self._accounts: list[tuple[str, str, bool]] = []
        """Lists of accounts that a program opened: path, chain, denied; told at the end."""
        self._gone: dict[str, set[str]] = {}
        self._rewrites = rewrites or Rewrites()
        self.canaries_read: dict[str, str] = {}

    def is_written(self, path: str) -> bool:
        """True when this run created or wrote the file at this path."""
        return posixpath.normpath(path) in self._made

    def is_laid(self, path: str) -> bool:
        """True for the pip of an environment, as ``python -m venv`` made it and nobody wrote to it since."""
        return posixpath.normpath(path) in self._laid

    def opened(self, event: Open) -> Cell:
        """One open; the cell it counts for."""
        if event.abi != "native":
            self._foreign(event.abi, event.pid)
        where = classify_path(event.path, self._actors.names_itself(event.pid))
        name = self._canaries.get(posixpath.normpath(event.path))
        if name is not None and event.access != "w" and not re.search("O_DIRECTORY|O_TRUNC", event.flags):
            return self._canary(name, event.pid, denied=event.denied)
        if event.writes and self._puts_packages(event.path, event.pid):
            self._note(event.path, by=event.pid)
            return IGNORED
        self._rewrites.opened(event, where, made=self.is_written(event.path))
        if event.writes:
            return self._written(event.path, where, event.pid, event.flags, denied=event.denied)
        return self._read(event, where)

    def path_query(self, event: PathQuery) -> Cell:
        """A question about a path outside the tree: never told as the same as reading it."""
        if event.abi != "native":
            self._foreign(event.abi, event.pid)
        if event.path == "/etc/nsswitch.conf":
            self._asks_names[event.pid] = self._actors.chain(event.pid)
        where = classify_path(event.path, self._actors.names_itself(event.pid))
        if where.kind == "own":
            self._looked_for(event.path, self._actors.chain(event.pid))
        asked = probe_of(where.shown)
        if asked in ("container-marker", "hypervisor", "machine"):
            return self._cells.get(Kind.PROBE, asked, self._actors.chain(event.pid), {"path": where.shown})
        if where.noise:
            return IGNORED
        start_up = where.kind == "home" and _START_UP.fullmatch(where.shown) is not None
        roundabout = where.kind == "quiet" and "/../" in event.path
        if start_up or roundabout or (where.kind in ("system", "proc", "sys") and asked is None):
            detail = {"how": "looks", "place": where.kind, "path": where.shown}
            return self._cells.get(
                Kind.READ, f"{where.shown} (asked about)", self._actors.chain(event.pid), detail
            )
        return IGNORED

    def changed(self, event: File) -> None:
        """A call that changes the file tree."""
        if event.abi != "native":
            self._foreign(event.abi, event.pid)
        name = event.call.removesuffix("at").removesuffix("at2")
        plain = not (event.mode or 0) & 0o6000
        from_there = not name.startswith("rename") or self._puts_packages(event.other, event.pid)
        if plain and from_there and self._puts_packages(event.path, event.pid):
            self._note(event.path, directory=name == "mkdir", by=event.pid)
            return
        if name in ("unlink", "rmdir"):
            self._deleted(event, emptied=False)
        elif name.startswith("rename"):
            self._renamed(event)
        elif name in ("link", "symlink"):
            self._linked(event, "symbolic" if name == "symlink" else "hard")
        elif "chmod" in name:
            self._mode(event)
        elif "chown" in name:
            self._owner(event)
        elif name in ("mkdir", "mknod"):
            self._created(event, name)
        elif "truncate" in name:
            where = classify_path(event.path)
            if event.size == 0:
                self._deleted(event, emptied=True)
            self._written(event.path, where, event.pid, "", denied=event.denied).count += 1

    def _puts_packages(self, path: str, pid: int) -> bool:
        """True for what the installer itself does where packages are put: the same for every package."""
        if self._actors.chain(pid) not in self._installers:
            return False
        return posixpath.normpath(path).startswith(INSTALLED + "/")

    def _looked_for(self, path: str, chain: str) -> None:
        """A shell walks its PATH for a program."""
        folder, _, name = path.rpartition("/")
        if folder in _PATH and chain.rsplit(">", 1)[-1] in _SHELLS and len(self._wanted) < _KEPT:
            self._wanted.setdefault((name, chain), set()).add(folder)

    def finish(self, heads: Mapping[str, bytes] | None = None) -> None:
        """Many small deletions become one fact, and so do many losses of both kinds; programs that were
        nowhere to be found are told. ``heads``: what changed files begin with.
        """
        for (name, chain), folders in sorted(self._wanted.items()):
            if folders >= _PATH and name not in self.executed:
                detail = {"program": name, "missing": "yes"}
                self._cells.add(Kind.EXEC, f"{name} (not there)", f"{chain}>{name}", detail)
        for kind, paths in sorted(self._gone.items()):
            enough, rewritten = self._rewrites.enough, self._rewrites.of(kind)
            lost = paths if enough(kind, rewritten) else paths | rewritten
            if enough(kind, lost):
                detail = {"examples": " ".join(sorted(lost)[:3])} | self._rewrites.share(kind, lost)
                if not enough(kind, paths):  # only together with what was overwritten
                    detail |= {"how": "overwrites", "area": kind}
                self._cells.get(Kind.DELETE, many(kind), "", detail).count += len(lost)
        asking = set(self._asks_names.values())
        for path, chain, denied in self._accounts:
            if chain not in asking:  # one of several alike, all of which look names up
                detail = {"how": "opens", "place": classify_path(path).kind}
                self._cells.get(Kind.READ, path, chain, detail, denied=denied)
        self._rewrites.finish(self._cells, heads or {})

    def _canary(self, name: str, pid: int, *, denied: bool) -> Cell:
        chain = self._actors.chain(pid)
        self.canaries_read.setdefault(name, chain)
        return self._cells.get(Kind.CANARY, name, chain, {"canary": name, "channel": "read"}, denied=denied)

    def _foreign(self, abi: str, pid: int) -> None:
        self._cells.add(Kind.EVADE, f"foreign-abi {abi}", self._actors.chain(pid))

    def _read(self, event: Open, where: PathClass) -> Cell:
        chain = self._actors.chain(event.pid)
        asked = probe_of(where.shown)
        if asked is not None:
            return self._cells.get(Kind.PROBE, asked, chain, {"path": where.shown})
        meant = where.shown in self._named or self._actors.was_asked_for(event.pid, event.asked or event.path)
        listed = "O_DIRECTORY" in event.flags
        survey = listed and where.shown.rstrip("/") in _SURVEYED
        quiet = where.noise or where.shown == _READLINE
        if (quiet or where.kind in ("own", "device", "gate", "scratch", "tree")) and not survey:
            return IGNORED
        if where.kind == "quiet" and not (meant or survey):
            return IGNORED
        if where.kind == "names" and not meant:
            if where.shown == "/etc/nsswitch.conf":
                self._asks_names[event.pid] = chain
            return IGNORED
        if where.shown in _PWNAM and not meant:
            if event.pid in self._asks_names:
                return IGNORED  # getpwuid and the like: the C library asks, not the code
            if ">" in chain and not chain.rpartition(">")[2].startswith(_INTERPRETERS):
                self._accounts.append((where.shown, chain, event.denied))
                return IGNORED
        subject = where.shown.rstrip("/") + "/" if listed else where.shown
        detail = {"how": "lists" if listed else "opens", "place": where.kind}
        return self._cells.get(Kind.READ, subject, chain, detail, denied=event.denied)

    def _written(self, path: str, where: PathClass, pid: int, flags: str, *, denied: bool) -> Cell:
        chain = self._actors.chain(pid)
        own = self.is_written(path)
        emptied = "O_TRUNC" in flags and "O_CREAT" not in flags  # creating may as well be a first write
        if emptied and not own and not where.noise and where.kind in ("tree", "home", "system"):
            self._lost(where, path)
        self._note(path, by=pid)
        if where.kind == "gate":
            return self._cells.get(Kind.EVADE, "writes to the gate's files", chain, {"path": where.shown})
        own_proc = where.kind == "quiet" and where.shown.startswith("/proc/self/")
        if where.kind == "device" or (own_proc and where.shown != _OWN_PROGRAM):
            return IGNORED
        if where.noise or "__pycache__" in path:
            return IGNORED
        how = "appends" if "O_APPEND" in flags else "empties" if "O_TRUNC" in flags else "writes"
        detail = {"how": how, "place": where.kind}
        return self._cells.get(Kind.WRITE, where.shown, chain, detail, denied=denied)

    def _note(self, path: str, *, directory: bool = False, by: int | None = None) -> None:
        kept = self._dirs if directory else self._made
        if len(kept) < _KEPT:
            kept.add(posixpath.normpath(path))
        if PIP.match(path):
            laid = by is not None and self._actors.lays_environment(by)
            (self._laid.add if laid else self._laid.discard)(posixpath.normpath(path))
        name = path[path.rfind("/") + 1 :]
        if len(name) >= _LEAKY:
            self._channels.add("file-name", "", bytes_of(name))

    def _lost(self, where: PathClass, path: str) -> None:
        """A file that was not the run's own is gone or empty."""
        paths = self._gone.setdefault(where.kind, set())
        if len(paths) < _KEPT:
            paths.add(path)

    def _deleted(self, event: File, *, emptied: bool) -> None:
        path = posixpath.normpath(event.path)
        where = classify_path(path, self._actors.names_itself(event.pid))
        chain = self._actors.chain(event.pid)
        if where.kind == "gate":
            self._cells.add(Kind.EVADE, "deletes the gate's files", chain, {"path": where.shown})
            return
        own = path in self._made or path in self._dirs
        if own or where.noise or where.kind in ("scratch", "device"):
            return
        self._lost(where, path)
        if not emptied:
            detail = {"place": where.kind}
            self._cells.add(Kind.DELETE, where.shown, chain, detail, denied=event.denied)

    def _renamed(self, event: File) -> None:
        old, new = posixpath.normpath(event.other), posixpath.normpath(event.path)
        before, after = classify_path(old), classify_path(new)
        own = old in self._made or old in self._dirs or before.kind == "scratch"
        self._rewrites.renamed(new, after, onto_own=new in self._made)
        if not self._actors.lays_environment(event.pid):
            self._laid.clear()  # it may be a folder, with another pip in it
        self._written(new, after, event.pid, "", denied=event.denied).count += 1
        if not own and not before.noise and before.kind != "gate":
            self._moved_canaries(old, event.pid, denied=event.denied)
            self._lost(before, old)
            subject = f"{before.shown} to {after.shown}"
            detail = {"old": before.shown, "place": before.kind}
            self._cells.add(Kind.RENAME, subject, self._actors.chain(event.pid), detail, denied=event.denied)

    def _linked(self, event: File, how: str) -> None:
        at = classify_path(event.path)
        target = event.other
        if not target.startswith("/"):
            target = posixpath.join(posixpath.dirname(event.path), target)
        to = classify_path(target)
        self._note(event.path)
        if how == "hard":
            self._rewrites.linked(posixpath.normpath(event.path), posixpath.normpath(target))
            self._moved_canaries(posixpath.normpath(target), event.pid, denied=event.denied)
        if to.kind in ("home", "system", "proc", "sys") or at.kind in ("home", "system"):
            detail = {"target": to.shown, "how": how, "place": at.kind}
            subject = f"{at.shown} to {to.shown}"
            self._cells.add(Kind.LINK, subject, self._actors.chain(event.pid), detail, denied=event.denied)

    def _moved_canaries(self, old: str, pid: int, *, denied: bool) -> None:
        """A secret under a new name is as good as opened: nobody would know it there."""
        for path, name in self._canaries.items():
            if path == old or path.startswith(old + "/"):
                self._canary(name, pid, denied=denied).count += 1

    def _mode(self, event: File) -> None:
        mode = event.mode or 0
        path = posixpath.normpath(event.path)
        where = classify_path(path, self._actors.names_itself(event.pid))
        if mode & 0o6000:
            what = "setuid"
        elif mode & 0o111 and path in self._made:
            what = "executable"
        elif (
            where.kind in ("home", "system", "own")
            and not where.noise
            and path not in self._dirs | self._made
        ):
            what = "changed"
        else:
            return
        detail = {"mode": f"{mode:o}", "what": what, "place": where.kind}
        self._cells.add(Kind.CHMOD, where.shown, self._actors.chain(event.pid), detail, denied=event.denied)

    def _owner(self, event: File) -> None:
        where = classify_path(event.path)
        if where.kind in _WORLD and not self.is_written(event.path):
            detail = {"what": "owner", "place": where.kind, "uid": str(event.uid)}
            self._cells.add(
                Kind.CHMOD, where.shown, self._actors.chain(event.pid), detail, denied=event.denied
            )

    def _created(self, event: File, name: str) -> None:
        where = classify_path(event.path)
        kind = (event.mode or 0) & 0o170000
        self._note(event.path, directory=name == "mkdir")
        if name == "mknod" and kind in (0o060000, 0o020000):
            self._cells.add(
                Kind.DENIED, "mknod device", self._actors.chain(event.pid), {"path": where.shown}, denied=True
            )
        elif where.kind in ("system", "own") and not where.noise and "__pycache__" not in event.path:
            detail = {"how": "makes a folder" if name == "mkdir" else "makes a node", "place": where.kind}
            chain = self._actors.chain(event.pid)
            self._cells.add(Kind.WRITE, where.shown + "/", chain, detail, denied=event.denied)
