"""The deployed functions: a folder a surface, a thin module a function."""
