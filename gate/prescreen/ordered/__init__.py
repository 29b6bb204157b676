"""Orders that mean something: numbers of enum members, places in lists that other code reads by place."""
