"""What somebody typed or holds to be known by, and where it newly goes, in whatever form."""
