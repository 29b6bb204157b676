"""Events of a trace, their strict decoding, and base against head."""
