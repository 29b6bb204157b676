"""What configuration grants and what it guards, at base and at head: manifests, Terraform, units, servers."""
