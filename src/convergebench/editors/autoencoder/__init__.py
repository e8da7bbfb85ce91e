"""Tiny autoencoders as editors: a round trip through the latent space, with no edit. Its loss is a lower bound."""
