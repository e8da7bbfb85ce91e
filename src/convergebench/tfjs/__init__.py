"""TensorFlow.js graph models, run in torch: neither TensorFlow nor JavaScript is needed.

`graph` reads a graph and its weights, `fusing` merges nodes into layers, and `program` runs it with the `operations`.
"""
