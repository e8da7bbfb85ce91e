"""The metric `decay`: making worn pictures, learning to tell how worn they are, and judging what was learned."""
