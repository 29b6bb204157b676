"""Programs that run inside or beside a sandbox: standard library only, no import of gate."""
