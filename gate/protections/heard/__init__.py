"""Whether somebody hears what a check says: awaited, used, or left to itself; base against head."""
