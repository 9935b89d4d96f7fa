"""Files and images of memories: how they come, what is made of them, how they go."""
