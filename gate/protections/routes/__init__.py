"""Which request reaches which handler, and what asks first: read a file, compared over the whole change."""
