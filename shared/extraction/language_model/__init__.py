"""Learning with a language model: what it is asked, how its answers are read, and when they can't be used."""

from shared.extraction.language_model.extractor import LanguageModelExtractor

__all__ = ["LanguageModelExtractor"]
