"""Project memory's function: turns, artifacts and a digest per task."""
