"""Metrics on an NVIDIA GPU: CUDA kernels for pixels and features, compiled when they are first used."""
