"""What a check looks at, and what changes it: before the check, or behind it. Base against head."""
