"""The one way out that an installation has."""
