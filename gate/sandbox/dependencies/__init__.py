"""Installing what a project needs, in a sandbox."""
