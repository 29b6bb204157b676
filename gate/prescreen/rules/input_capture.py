"""Keys, screen, clipboard or camera are recorded.

Programs that need it say so; a library that does it in passing is spying.

Remove it, or make it a feature the user switches on.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_KEYS = (
    "pynput.keyboard.Listener",
    "keyboard.on_press",
    "keyboard.hook",
    "keyboard.record",
    "pyHook.HookManager",
    "pynput.mouse.Listener",
)
_SCREEN = (
    "PIL.ImageGrab.grab", "pyautogui.screenshot", "mss.mss().grab", "pyscreenshot.grab",
    "mss.mss().shot",
)  # fmt: skip
_CLIPBOARD = ("pyperclip.paste", "win32clipboard.GetClipboardData", "tkinter.Tk().clipboard_get")


@rule(
    "py.input-capture",
    "Keys, screen or clipboard are recorded",
    severity="medium",
    confidence="medium",
    topic="spy",
    cwe=(506, 359),
    attack=("T1056.001", "T1113", "T1115"),
    why="Passwords and private messages are on the screen, in the clipboard and on the keyboard.",
    fix="Remove it, or make it a feature that the user switches on.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """The usual libraries' calls for it."""
    for call, _ in module.calls(*_KEYS):
        yield Hit(node=call, message="Keys or mouse are recorded.", severity=Severity.HIGH)
    for call, _ in module.calls(*_SCREEN):
        yield Hit(node=call, message="The screen is recorded.")
    for call, _ in module.calls(*_CLIPBOARD):
        yield Hit(node=call, message="The clipboard is read.")
