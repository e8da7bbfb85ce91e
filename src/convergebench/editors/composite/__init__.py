"""Composite editors: remedies against decay that wrap other editors and are named by an expression.

paste-back(sim-jpeg)   best-of(sim-noise, 3, ssim)   paste-back(anchor(sim-tint))   then(sim-perfect, sim-blur)
"""
