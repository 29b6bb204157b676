"""Text that does not say, or not only, what it seems to say: the rules, and the scanner that runs them."""

from __future__ import annotations

from typing import Final

from gate.prescreen.interface import Prescreened, PrescreenRequest
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.active_markup import active_markup
from gate.prescreen.scanners.hidden_characters import bidi, homoglyph, invisible, smuggled
from gate.prescreen.scanners.hidden_layout import encoding, far_right, line_ends
from gate.prescreen.text_rule import run_rules

RULES: Final = (bidi, invisible, smuggled, homoglyph, far_right, encoding, line_ends, active_markup)


class HiddenText:
    """Hidden text in every text file of the change, whatever its language."""

    name: str = "hidden-text"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Run the rules; what they could not get through in time is named."""
        found, unlooked = run_rules(RULES, "gate.prescreen.scanners.hidden_text:RULES", request)
        return ended(self.name, found, unlooked)
