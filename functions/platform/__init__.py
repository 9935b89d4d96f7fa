"""The platform's functions: keys, projects, usage, health, documents and the sweeper."""
