"""What a project takes from elsewhere, read as data: manifests, lock files, names, workflows."""
