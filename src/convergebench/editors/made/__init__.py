"""Editors made of editors: cures that can be tested like any editor, and named by an expression.

paste-back(sim-jpeg)   best-of(sim-noise, 3, ssim)   paste-back(anchor(sim-tint))   then(sim-perfect, sim-blur)
"""
