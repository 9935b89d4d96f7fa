"""Memory stores: text files at paths, with versions and optimistic concurrency."""
