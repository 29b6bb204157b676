"""One file a language: its sources, sinks and what makes values safe."""

from __future__ import annotations

from typing import Final

from gate.taint.language import Language
from gate.taint.languages.csharp import CSHARP
from gate.taint.languages.go import GO
from gate.taint.languages.java import JAVA, KOTLIN
from gate.taint.languages.javascript import JAVASCRIPT
from gate.taint.languages.php import PHP
from gate.taint.languages.ruby import RUBY

LANGUAGES: Final[tuple[Language, ...]] = (JAVASCRIPT, GO, PHP, JAVA, KOTLIN, RUBY, CSHARP)
