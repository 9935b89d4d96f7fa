"""Memory stores' function: stores, memories, versions."""
