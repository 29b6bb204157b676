"""Python that is newer than the interpreter that reads it. Standard library only; nothing is executed."""
