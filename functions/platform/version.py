"""The version of this code, as `pyproject.toml` has it."""

VERSION = "0.1.0"
