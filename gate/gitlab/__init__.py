"""A report on a GitLab merge request: one note, and the commit's status (docs/gitlab.md)."""
