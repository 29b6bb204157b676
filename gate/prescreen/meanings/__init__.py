"""Lines that stay as they are and mean something else: by a name that is taken, a pattern, a key, a level."""
