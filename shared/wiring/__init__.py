"""Composition: from a function's environment to the services that its routes close over."""
