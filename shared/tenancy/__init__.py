"""Who is calling and how their project is set: keys, roles, project settings, rate limits, usage."""
