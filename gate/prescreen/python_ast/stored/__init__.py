"""What a program keeps in its database: which requests write it, and where it is read again (second order)."""
