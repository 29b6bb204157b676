"""What a project takes from elsewhere, as one model: source, name, version, integrity, alias."""
