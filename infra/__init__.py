"""The infrastructure: nested stacks for what outlives the code, and the whole stack on one machine."""
