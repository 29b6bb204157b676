"""The static look: every scanner side by side, each in a limited child process."""
