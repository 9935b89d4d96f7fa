"""The embedded search index: a file an owner, for one machine."""
