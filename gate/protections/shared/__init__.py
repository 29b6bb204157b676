"""Values of one caller that another may get: pools, threads that are used again, caches."""
