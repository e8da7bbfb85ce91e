"""Tiny autoencoders as editors: into a latent space and out again, with no edit. What is lost is a model's floor."""
