"""Project memory: turns, artifacts and a digest per task, kept until the project's retention ends."""
