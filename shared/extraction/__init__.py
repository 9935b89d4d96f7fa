"""What is learnt from a conversation, and what becomes of it: extracting and deciding, by rules or a language model."""
