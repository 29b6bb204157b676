"""Firewalls, logs, audit or the shell's history are switched off, or the processes that watch are
killed.

What comes next is not meant to be seen.

Remove it; an administrator changes these things in the machine's own configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import all_commands
from gate.regex import regex

_COMMAND = regex(
    r"\bsetenforce\s+0|\bufw\s+disable|\biptables\s+(-F|--flush)|\bhistory\s+-c\b|\bunset\s+HISTFILE|HISTFILE=/dev/null"
    r"|\bsystemctl\s+(stop|disable|mask)\s+(\S+\s+)*(auditd|firewalld|apparmor|rsyslog|falco|clamav\S*|ufw|sshd?)\b"
    r"|\b(pkill|killall|kill)\b.*\b(sshd|auditd|falco|clamd|rsyslogd|systemd|crowdstrike|falcon-sensor)\b"
    r"|Set-MpPreference\s+-Disable|netsh\s+advfirewall\s+set\s+\w+\s+state\s+off|\bauditctl\s+-e\s*0|\bchattr\s+-i\s+/etc"
    r"|NOPASSWD.*/etc/sudoers"
)
_LOGS = regex(r"^/var/log/(auth|syslog|secure|audit|wtmp|btmp|lastlog|messages)")


@rule(
    "py.protection-off",
    "Protection is switched off",
    severity="high",
    confidence="medium",
    topic="evasion",
    cwe=(693, 506),
    attack=("T1562", "T1070"),
    why="Logs and firewalls are what would show what happens next.",
    fix="Remove it; such changes belong to the machine's own configuration.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Commands that do it, and system logs emptied or deleted."""
    for call, command in all_commands(module):
        if _COMMAND.search(command):
            yield Hit(node=call, message="A command switches protection off.")
    for call, name in module.calls("open", "os.remove", "os.unlink", "os.truncate", "shutil.rmtree"):
        path = module.text_of(call.args[0]) if call.args else None
        mode = module.text_of(module.arg(call, 1, "mode")) or ""
        if path and _LOGS.match(path) and (name != "open" or "w" in mode):
            yield Hit(node=call, message="A log of the system is emptied or deleted.")
