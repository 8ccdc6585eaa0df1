"""Sources of updates: files, HTTP, generators and the ticker. Everything is checked before it is sent."""
