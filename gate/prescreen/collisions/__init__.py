"""How names of owners are put together and compared, so that two of them may come to be one."""
