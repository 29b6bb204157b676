"""What a program keeps in its database: who writes it, and where it is read again (second order)."""
