"""Memories: what conversations taught, added asynchronously, searched, changed and forgotten."""
