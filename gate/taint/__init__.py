"""Which values of outsiders reach what runs, queries, opens, fetches or shows them, in eight languages."""
