"""Commands on changed lines of scripts and build files that can act, and which of them a probe started.

A shell does not tell which of its lines ran. The trace tells which programs were started and with what
words, so a command counts as reached when its program was, with all of the words that stand there plainly.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import PurePosixPath
from typing import Final

from gate.languages.commands.reading import comment_marks, lines_of
from gate.model.change import ChangedFile, Tree
from gate.model.run import ActingCommand, NotExercised, RunRecord
from gate.regex import regex
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, Net, Open

MOST: Final = 200
"""Of one file: more need not be told."""
BIGGEST: Final = 1 << 18
_LONGEST_LINE: Final = 4_000
_SECONDS: Final = 10.0
"""For all files: 74 big Makefiles took 13 s on a busy machine."""
_STARTED: Final = 50_000
"""Different commands of a trace that are remembered."""
_WORDS: Final = 20
_HOME: Final = "/work/home/"

_NETWORK: Final = frozenset((
    "curl", "wget", "wget2", "aria2c", "nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "socat",
    "telnet", "ssh", "scp", "sftp", "ftp", "tftp", "lftp", "rclone", "gsutil",
))  # fmt: skip
_NETWORK_IF: Final = {
    "openssl": regex(r"\bs_client\b"),
    "git": regex(r"\s(?:push|send-email)\b"),
    "rsync": regex(r"\w:\S|\brsync://"),
    "aws": regex(r"\bs3\b"),
    "busybox": regex(r"\s(?:nc|wget|telnet|ftpput|tftp)\b"),
}
_DELETES_IF: Final = {
    "rm": regex(r"\s(?:-[a-zA-Z]*[rR]|--recursive\b)"),
    "find": regex(r"\s-(?:delete|exec(?:dir)?\s+(?:\S*/)?(?:rm|shred|unlink|truncate))\b"),
    "dd": regex(r"\sof="),
    "shred": regex(r""),
    "mkfs": regex(r""),
    "wipefs": regex(r""),
}
_CODE_IF: Final = {
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "python", "python3"), regex(r"-[a-zA-Z]*c\Z")),
    **dict.fromkeys(("perl", "ruby", "node"), regex(r"-[a-zA-Z]*e\Z")),
    "php": regex(r"-r\Z"),
}
"""The word behind which the code stands."""
_SIGNALS: Final = frozenset(("pkill", "killall"))
_LATER: Final = frozenset(("crontab", "systemd-run", "launchctl"))
_CASE: Final = regex(r"\s*\(?[^\s()$`'\"&;<>|]+(?:\s*\|\s*[^\s()$`'\"&;<>|]+)*\)(?=\s|$)")
"""The pattern of a `case`, one or several words before a bracket that nothing opened: no command."""
_PIECES: Final = regex(
    r"\|&?|&&|;|(?<![<>])&(?![>\d])|\$\(|[`()]|(?<!\S)[{}](?=\s|$)|\b(?:then|do|else|elif|if|while|until)\b|(?<=\s)!\s"
)
_BEFORE: Final = frozenset((
    "sudo", "env", "exec", "nohup", "time", "command", "doas", "nice", "timeout", "stdbuf", "setsid",
    "ionice", "xargs", "builtin", "shell", "then", "do",
))  # fmt: skip
_TAKES_WORD: Final = frozenset(("-u", "-g", "-n", "-k", "-s", "-I", "-P", "-L", "-d"))
_PLAIN: Final = regex(r"(?P<quote>[\"']?)(?P<word>[\w./:@%+=,-]+)(?P=quote)\Z")
_EVAL: Final = regex(r"\beval\s+[\"']?(?:\$\(|`)(.{1,2000})")
_ADDRESS: Final = regex(
    r"^(?:https?|ftp|wss?|tcp|udp)://(?!localhost\b|127\.)[\w-]|^(?!127\.|0\.)\d+\.\d+\.\d+\.\d+(?=[:/]|$)"
)
_NO_PROGRAMS: Final = frozenset((
    "[", "[[", "test", "echo", "printf", "export", "local", "readonly", "declare", "return", "for", "case",
    "in", "set", ":", "let", "alias", "grep", "sed", "awk", "cat", "log", "info", "warn", "error", "die",
    "fail", "xdg-open", "open", "eval", "git", "pip", "pip3", "npm",
))  # fmt: skip
"""What an address says nothing about, and the package managers that prescreen judges."""
_SUBSTITUTED: Final = regex(r"\$\(")
"""Put so that a word which ends in a substitution is no plain one."""
_DEVICE: Final = regex(r"/dev/(?:tcp|udp)/([^\s/'\"]+)/")
_DOTFILE: Final = regex(r">>?\s*[\"']?(?:~|\$HOME|\$\{HOME\})[\"']?/(\.[\w./-]+)")
_ONLY_SAID: Final = regex(r"\s*(?:echo|printf)\s[^|;&`]*\Z")
_KEY: Final = {
    "json": regex(r"\s*\"[^\"]*\"\s*:\s*\"?"),
    "ini": regex(r"\s*(?!description)[\w\"'][\w\"':.-]*\s*=\s*[\[{(]?\s*(?:\w+\s*=\s*)?[\"']?"),
    "yaml": regex(r"\s*(?:-\s+)?(?:[\w./-]+:\s+(?![|>]))?[\"']?"),
    "makefile": regex(r"\t\s*[-@+]*"),
}
_FILES: Final = (
    ("json", regex(r"package\.json|composer\.json|deno\.jsonc?")),
    ("ini", regex(r"tox\.ini|setup\.cfg|pyproject\.toml|\.?mise\.toml")),
    (
        "yaml",
        regex(
            r"taskfile(?:\.dist)?\.ya?ml|procfile|\.gitlab-ci\.ya?ml|\.?lefthook\.ya?ml|\.pre-commit-config\.ya?ml"
            r"|(?:docker-)?compose\.ya?ml"
        ),
    ),
    ("shell", regex(r"\.?justfile")),
)
"""Files of which somebody starts commands by name, by theirs (in lower case)."""
_BUILTINS: Final = frozenset((
    "[", "[[", "]]", "test", "echo", "printf", "export", "local", "readonly", "declare", "typeset",
    "return", "for", "case", "esac", "in", "fi", "done", "select", "function", "set", ":", "let", "alias",
    "eval", "cd", "pushd", "popd", "dirs", "pwd", "read", "mapfile", "readarray", "unset", "shift", "trap",
    "wait", "exit", "source", ".", "shopt", "umask", "ulimit", "getopts", "hash", "type", "true", "false",
    "break", "continue", "bg", "fg", "jobs", "kill", "caller", "disown", "times", "history", "compgen",
    "complete", "bind", "unalias", "suspend", "define", "endef", "ifeq", "ifneq", "ifdef", "ifndef",
    "endif", "include", "logout", "enable", "help",
))  # fmt: skip
"""What a shell or make does by itself: no trace shows it."""
_FUNCTION: Final = regex(r"^[ \t]*(?:function[ \t]+)?([\w-]{1,80})[ \t]*\([ \t]*\)", re.MULTILINE)
_PROGRAM: Final = regex(r"[a-zA-Z_][\w.+-]{0,80}")
_MOST_STEPS: Final = 2_000
_MOST_RIVALS: Final = 200
_REDIRECTS: Final = ("<", ">", "2>", "1>", "&>")
NOT_FOUND: Final = regex(r"^(\S+): (?:line )?(\d+): ([\w.+-]{1,60}): (?:command )?not found$", re.MULTILINE)
"""What dash and bash say of a program that is not there: of which script, in which line, its name."""


def acting_commands(
    files: Sequence[ChangedFile], head: Tree
) -> tuple[dict[str, tuple[ActingCommand, ...]], list[NotExercised]]:
    """Commands that can act, on changed lines of shell scripts, Makefiles and the like, by path, and the
    files that were not read for them.
    """
    chosen = {f.path: f for f in files if _kind(f) and f.new_mode in ("100644", "100755")}
    found: dict[str, tuple[ActingCommand, ...]] = {}
    left: list[NotExercised] = []
    until = time.monotonic() + _SECONDS
    for path, data in head.read_many(tuple(chosen)):
        file = chosen[path]
        if len(data) > BIGGEST or time.monotonic() > until:
            target = f"commands of {path} that can act"
            left.append(NotExercised(path=path, target=target, reason="too much to be read for them"))
            continue
        acts = commands_of(data.decode("utf-8", "replace"), path, _kind(file))
        touched = tuple(act for act in acts if file.touches(act.first, act.last))
        if touched:
            found[path] = touched[:MOST]
    return found, left


def steps_of(files: Sequence[ChangedFile], head: Tree) -> dict[str, tuple[ActingCommand, ...]]:
    """The commands on changed lines of shell scripts and Makefiles that start a program of a plain name: what
    the trace can show to have run. Builtins, functions of the script and assignments cannot be shown.
    """
    chosen = {f.path: f for f in files if f.language in ("shell", "makefile") and f.size <= BIGGEST}
    chosen = {path: f for path, f in chosen.items() if f.new_mode in ("100644", "100755")}
    until = time.monotonic() + _SECONDS
    found: dict[str, tuple[ActingCommand, ...]] = {}
    for path, data in head.read_many(tuple(chosen)):
        if time.monotonic() <= until:
            text, file = data.decode("utf-8", "replace"), chosen[path]
            every = tuple(islice(_steps(text, path, file.language or ""), _MOST_STEPS))
            by_program: dict[str, list[ActingCommand]] = defaultdict(list)
            for step in every:
                by_program[step.program].append(step)
            found[path] = tuple(
                replace(s, rivals=_rivals(s, by_program[s.program]))
                for s in every
                if file.touches(s.first, s.last)
            )
    return found


def _rivals(step: ActingCommand, others: Sequence[ActingCommand]) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """What the same program is given on lines of the file that are not the command's."""
    elsewhere = ((o.words, o.whole) for o in others if (o.first, o.last) != (step.first, step.last))
    return tuple(dict.fromkeys(islice(elsewhere, _MOST_RIVALS)))


def _steps(text: str, path: str, kind: str) -> Iterator[ActingCommand]:
    own = frozenset(_FUNCTION.findall(text))
    key = _KEY.get(kind)
    for line in lines_of(text, comment_marks(path)):
        if len(line.text) > _LONGEST_LINE or (kind == "makefile" and not line.text.startswith("\t")):
            continue
        said = key.sub("", line.text, count=1) if key else line.text
        said = _CASE.sub("", said, count=1) if kind == "shell" else said
        for piece in _PIECES.split(_SUBSTITUTED.sub("$_(", said)):
            words = _command(piece.split())
            program = words[0].rpartition("/")[2].strip("\"'\\") if words else ""
            if _PROGRAM.fullmatch(program) and program not in _BUILTINS and program not in own:
                plain = tuple(_plain(words[1:_WORDS]))
                given = list(takewhile(lambda word: not word.startswith(_REDIRECTS), words[1:]))
                yield ActingCommand(
                    first=line.first, last=line.last, what="", program=program, words=plain,
                    whole=len(given) == len(plain),
                )  # fmt: skip


def _kind(file: ChangedFile) -> str:
    """How commands stand in a file; nothing where none are looked for."""
    name = PurePosixPath(file.path).name.lower()
    if file.language in ("shell", "makefile"):
        return file.language
    return next((kind for kind, names in _FILES if names.fullmatch(name)), "")


def commands_of(text: str, path: str, kind: str) -> Iterator[ActingCommand]:
    """What a text's commands can do, line by line, each once."""
    told: set[tuple[int, str]] = set()
    key = _KEY.get(kind)
    for line in lines_of(text, comment_marks(path)):
        if len(line.text) > _LONGEST_LINE:
            continue
        said = key.sub("", line.text, count=1) if key else line.text
        if kind == "json":
            said = said.replace('\\"', " ").replace('"', " ; ")
        for what, program, words in _acts(said, script=kind in ("shell", "makefile")):
            if (line.first, what) not in told:
                told.add((line.first, what))
                yield ActingCommand(first=line.first, last=line.last, what=what, program=program, words=words)


def _acts(line: str, *, script: bool) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What it can do, the program that does it, and its plain words."""
    for host in _DEVICE.findall(line):
        yield "reach the network", "/dev/tcp", (host,) if _PLAIN.match(host) else ()
    for name in _DOTFILE.findall(line):
        yield "write to hidden files", ">", (name.rstrip("/"),)
    if "$(" not in line and _ONLY_SAID.match(line):
        return
    yield from _evaluated(line)
    for piece in _PIECES.split(_SUBSTITUTED.sub("$_(", line)):
        words = _command(piece.split())
        while len(words) > 1:
            program = words[0].rpartition("/")[2].strip("\"'\\")
            plain = tuple(_plain(words[1:_WORDS]))
            if what := _what(program, " ".join(words)):
                yield what, program, plain
            elif script and program not in _NO_PROGRAMS and any(map(_ADDRESS.search, plain)):
                # Whoever it is, also by a variable's name, is given somebody to talk to.
                yield "reach the network", "$" if "$" in words[0] else program, plain
            at = _code_at(program, words)
            if not at:
                break
            yield "run code that it is given", program, tuple(_plain(words[1:at]))
            words = _command(words[at:])  # which may be commands itself


def _evaluated(line: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """``eval "$(tr a b < x)"``: seen to have run by the program that gives the text."""
    found = _EVAL.search(line)
    commands = [_command(piece.split()) for piece in _PIECES.split(found[1])] if found else []
    for words in reversed(commands):
        if len(words) > 1 and words[0] not in _NO_PROGRAMS and "$" not in words[0]:
            yield "run code that it is given", words[0].rpartition("/")[2], tuple(_plain(words[1:_WORDS]))
            return


def _code_at(program: str, words: Sequence[str]) -> int:
    """Where the code stands that a command like ``bash -c`` is given; 0 where there is none."""
    flag = _CODE_IF.get(program)
    if flag is None:
        return 0
    return next((n + 1 for n, word in enumerate(words[1:_WORDS], 1) if flag.match(word)), 0)


def _plain(words: Iterable[str]) -> Iterator[str]:
    """The words that are the same when the command runs, up to a redirection."""
    for word in words:
        if word.startswith(_REDIRECTS):
            return
        if found := _PLAIN.match(word):
            yield found["word"]


def _what(program: str, command: str) -> str:
    if program in _NETWORK or (program in _NETWORK_IF and _NETWORK_IF[program].search(command)):
        return "reach the network"
    name = "mkfs" if program.startswith("mkfs.") else program
    if name in _DELETES_IF and _DELETES_IF[name].search(command):
        return "delete files"
    if program in _SIGNALS:
        return "signal other processes"
    return "have programs started later" if program in _LATER else ""


def _command(words: list[str]) -> list[str]:
    """After ``sudo -u root env A=1``, ``timeout 5``, ``xargs -0`` and what stands ahead of any command."""
    at = 0
    while at < len(words):
        word = words[at].lstrip("@\"'")
        if word.rpartition("/")[2] in _BEFORE:
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][0].isdigit()):
                at += 2 if words[at] in _TAKES_WORD else 1
        elif not word or re.match(r"[A-Za-z_]\w*\+?=", word):
            at += 1
        else:
            return [word, *words[at + 1 :]]
    return []


def unreached_commands(
    runs: Sequence[RunRecord], acts: Mapping[str, Sequence[ActingCommand]]
) -> Iterator[NotExercised]:
    """One entry for each line whose command no probe started at head."""
    if not acts:
        return
    seen = Started(runs)
    for path, commands in acts.items():
        told: dict[int, list[str]] = {}
        for one in commands:
            if not seen.started(path, one) and one.what not in told.get(one.first, ()):
                told.setdefault(one.first, []).append(one.what)
        for line, whats in sorted(told.items()):
            reason = f"can {' and '.join(whats)}, and no probe reached it"
            yield NotExercised(path=path, target=f"line {line}", reason=reason)


class Started:
    """The commands that the runs started, the hosts they reached for, the hidden files they wrote."""

    def __init__(self, runs: Iterable[RunRecord]) -> None:
        self._commands: dict[str, set[frozenset[str]]] = {}
        self._hosts: set[str] = set()
        self._hidden: set[str] = set()
        self._missing: list[tuple[str, str, int, str]] = []
        self._room = _STARTED
        for run in runs:
            if run.trace is not None:
                read_trace(run.trace, self._event)
            for name, line, program in NOT_FOUND.findall(run.stderr.decode("utf-8", "replace")):
                said = PurePosixPath(name).name
                self._missing.append((run.probe.path or "", said, int(line[:9]), program))

    def _event(self, event: Event) -> None:
        if isinstance(event, Exec):
            words = frozenset(event.argv[1:])
            for path in (event.path, event.asked, *event.argv[:1]):
                known = self._commands.setdefault(path.rpartition("/")[2], set())
                if words not in known and self._room:
                    self._room -= 1
                    known.add(words)
        elif isinstance(event, Net) and event.call != "bind" and len(self._hosts) < _STARTED:
            self._hosts.add(event.addr)
        elif isinstance(event, Open) and event.writes and event.path.startswith(_HOME):
            self._hidden.add(event.path.removeprefix(_HOME)[:200])

    def started(self, path: str, act: ActingCommand) -> bool:
        """True when a run started the program with all the plain words of the command."""
        wanted = set(act.words)
        if act.program == "/dev/tcp":
            return bool(wanted & self._hosts) if wanted else bool(self._hosts)
        if act.program == ">":
            return bool(wanted & self._hidden)
        named = self._commands.values() if act.program == "$" else [self._commands.get(act.program, set())]
        if any(wanted <= words for known in named for words in known):
            return True
        here = PurePosixPath(path).name
        return any(
            program == act.program and of == path and (said != here or act.first <= line <= act.last)
            for of, said, line, program in self._missing
        )
