"""Models behind ports: embedders, and a language model; Bedrock, and what runs in this process."""
