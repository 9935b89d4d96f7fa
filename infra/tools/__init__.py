"""Tools of the build: the environments' locks, and what makes a function's artifact."""
