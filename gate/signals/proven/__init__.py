"""Rules on holes that were proven by running: one file a weakness, found by walking the folder."""
