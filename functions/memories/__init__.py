"""Memories' functions (`/v1/memories`): the API, and the worker behind its queue."""
