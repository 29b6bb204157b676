"""Text that does not say what it seems to say: the rules, and the scanner that runs them."""

from __future__ import annotations

from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.hidden_characters import bidi, homoglyph, invisible, smuggled
from gate.prescreen.hidden_layout import encoding, far_right, line_ends
from gate.prescreen.interface import Prescreened, PrescreenRequest
from gate.prescreen.outcome import ended
from gate.prescreen.text_rule import TextRule, about, run_rules

_FIX: Final = "Remove the characters; write them as escapes (\\uXXXX) where a string really needs them."
RULES: Final = (
    TextRule(
        about(
            "hidden.bidi",
            "Characters that reorder the line on screen",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007, 451),
            attack=("T1027",),
            why="A reviewer reads something else than what runs (Trojan Source, CVE-2021-42574).",
            fix=_FIX,
        ),
        bidi,
    ),
    TextRule(
        about(
            "hidden.invisible",
            "Characters that nobody can see",
            Severity.MEDIUM,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007,),
            attack=("T1027",),
            why="Two names that look the same can be different, and a check can be switched off unseen.",
            fix=_FIX,
        ),
        invisible,
    ),
    TextRule(
        about(
            "hidden.smuggled",
            "A message in invisible characters",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007, 506),
            attack=("T1027",),
            why="Tag characters and selector runs carry text or code that no viewer shows.",
            fix="Remove them; nothing honest needs them in a repository.",
        ),
        smuggled,
    ),
    TextRule(
        about(
            "hidden.homoglyph",
            "A name that looks like another",
            Severity.HIGH,
            Confidence.MEDIUM,
            topic="hidden-text",
            cwe=(1007,),
            attack=("T1036",),
            why="A look-alike name can stand in for a trusted one (CVE-2021-42694).",
            fix="Write the name in one script; Python normalises names to NFKC, so write that form.",
        ),
        homoglyph,
    ),
    TextRule(
        about(
            "hidden.far-right",
            "Code out of sight at the right",
            Severity.HIGH,
            Confidence.MEDIUM,
            topic="hidden-text",
            cwe=(451, 506),
            attack=("T1027",),
            why="Diff views cut long lines; blanks push a payload where nobody scrolls.",
            fix="Put the code on a line of its own.",
        ),
        far_right,
    ),
    TextRule(
        about(
            "hidden.encoding",
            "A file that is read in another encoding",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(838, 451),
            attack=("T1027",),
            why="What the interpreter decodes differs from what the reviewer sees.",
            fix="Save the file as UTF-8 and drop the declaration.",
        ),
        encoding,
    ),
    TextRule(
        about(
            "hidden.line-end",
            "A line end or control character that viewers do not show",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(451, 150),
            attack=("T1027",),
            why="The interpreter starts a new line where the reviewer sees the same one go on.",
            fix="Use newline characters only; write control characters as escapes.",
        ),
        line_ends,
    ),
)


class HiddenText:
    """Hidden text in every text file of the change, whatever its language."""

    name: str = "hidden-text"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Run the rules; what they could not get through in time is named."""
        found, unlooked = run_rules(RULES, "gate.prescreen.hidden_text:RULES", request)
        return ended(self.name, found, unlooked)
