"""Which tests the settings of a test runner leave out."""
