"""The table of models, by provider: names, capabilities, prices and retirement dates."""
