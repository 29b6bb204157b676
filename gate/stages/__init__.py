"""What the stages of a check do."""
