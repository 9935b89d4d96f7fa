"""Learning without a model: the user's own sentences, chosen, typed and dated by rules, in English and Chinese."""

from shared.extraction.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
