"""What is sent into a sandbox: the job, and a tree as one tar on the host's disk (never unpacked there)."""

from __future__ import annotations

import tarfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.inside.observer.text import text_of
from gate.model.change import Side, Tree, TreeEntry
from gate.model.run import Limits, Probe, SandboxSpec
from gate.sandbox.canaries import as_environment, as_files
from gate.sandbox.dependencies import layers
from gate.sandbox.protocol import Job, Tracing
from gate.tracing.data_files import data_files

WORK: Final = "/work"
TREE: Final = "/work/tree"
HOME: Final = "/work/home"
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
MAX_TREE: Final = 2 << 30
_CHUNK: Final = 1 << 18
_SUBMODULE: Final = "160000"
_LINK: Final = "120000"
_CALL_SHARE: Final = 0.6
"""Of the sandbox's memory, what one process of a call probe may hold: the rest is for the driver, the
launcher and the files of the scratch, so that a greedy call fails before the sandbox ends everything."""
_ENVIRONMENT: Final = {
    "PATH": PATH,
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108  # inside the sandbox
    "USER": "runner",
    "LOGNAME": "runner",
}
"""All the code sees beside the spec's and the probe's own: nothing of the host's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeArchive:
    """A tree's archive: a tar file of ``size`` bytes. ``files``: the paths that its files will have inside,
    as a trace writes them, and their sizes in bytes (0 for a link). ``data``: how many of them hold data.
    """

    path: Path
    size: int
    files: Mapping[str, int] = field(default_factory=dict)
    data: int = 0

    def chunks(self) -> Iterator[bytes]:
        """The tar, piece by piece, never an empty one."""
        with self.path.open("rb") as stream:
            while piece := stream.read(_CHUNK):
                yield piece

    def beginnings(self, paths: Collection[str], most: int) -> dict[str, bytes]:
        """What these of ``files`` begin with, at most so many bytes of each. Reads the whole archive."""
        found: dict[str, bytes] = {}
        if not paths:
            return found
        with tarfile.open(self.path, "r:", encoding="utf-8", errors="surrogateescape") as tar:
            for member in tar:
                path = inside(member.name)
                stream = tar.extractfile(member) if member.isreg() and path in paths else None
                if stream is not None:
                    found[path] = stream.read(most)
        return found


class NoTree:
    """A tree without files, for trial starts."""

    def entries(self) -> tuple[TreeEntry, ...]:
        """None."""
        return ()

    def read(self, path: str) -> bytes:
        """Raises KeyError."""
        raise KeyError(path)

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002
        """Nothing."""
        return iter(())

    def archive(self) -> Iterator[bytes]:
        """An empty tar."""
        yield bytes(1024)


def pack(tree: Tree, path: Path) -> TreeArchive:
    """Write the tree's archive to ``path`` (new, private). Raises InconclusiveError when it is too large."""
    size = 0
    with path.open("xb") as out:
        for piece in tree.archive():
            size += len(piece)
            if size > MAX_TREE:
                raise InconclusiveError(
                    f"the tree is larger than {MAX_TREE >> 20} MiB", advice="Gate a smaller part of it."
                )
            out.write(piece)
    entries = [entry for entry in tree.entries() if entry.mode != _SUBMODULE]
    files = {inside(entry.path): 0 if entry.mode == _LINK else entry.size for entry in entries}
    return TreeArchive(path=path, size=size, files=files, data=data_files(files))


def inside(path: str) -> str:
    """A path of the tree, as a trace writes it."""
    return f"{TREE}/{text_of(path.encode('utf-8', 'surrogateescape'))}"


def with_tree(limits: Limits, tree_archives: Mapping[Side, TreeArchive]) -> Limits:
    """The tree lies in the scratch, which is memory: both grow by the larger tree (whole MiB)."""
    extra = (max(tree_archive.size for tree_archive in tree_archives.values()) + (1 << 20) - 1) >> 20 << 20
    return replace(limits, memory=limits.memory + extra, scratch=limits.scratch + extra)


def job_for(probe: Probe, spec: SandboxSpec, side: Side = "head", *, tracer: Tracing, in_cgroup: bool) -> Job:
    """The job of one run. ``in_cgroup``: a control group holds memory and processes for all of it.
    Without one, each process may have twice the memory: the backend's poll, which sees the sum, acts
    first and can tell what happened; the rlimit only bounds what fits between two polls.

    Raises ValueError for a ``cwd`` outside the tree.
    """
    cwd = PurePosixPath(probe.cwd)
    if cwd.is_absolute() or ".." in cwd.parts:
        raise ValueError(f"probe {probe.id}: cwd {probe.cwd!r} leaves the tree")
    limits = spec.limits
    installed = layers.environment(spec, side, driver=probe.driver)
    if spec.services and probe.driver and probe.phase == "test":
        installed["GATE_SERVICES"] = spec.services
    return Job(
        argv=probe.argv,
        env=_ENVIRONMENT | installed | dict(spec.env) | as_environment(probe.planted) | dict(probe.env),
        cwd=str(PurePosixPath(TREE) / cwd),
        tree_root=TREE,
        files={**spec.files, **as_files(probe.planted)},
        memory=0 if in_cgroup else 2 * limits.memory,
        soft_memory=int(limits.memory * _CALL_SHARE) if probe.phase == "call" else 0,
        pids=0 if in_cgroup else limits.pids,
        open_files=limits.open_files,
        file_size=limits.file_size,
        output=limits.output,
        tracer=tracer,
        driver=probe.driver,
        deadline=probe.deadline,
    )
