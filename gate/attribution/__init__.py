"""Who wrote a commit, as far as the commit says."""
