"""MAXIM restorers: real learned networks that npm packages ship as TensorFlow.js graphs, run here in torch.

`graph` reads a graph and its weights, `fusing` merges nodes into layers, `program` runs it with the `operations`, and
`editor` makes editors of it. Neither TensorFlow nor JavaScript is needed.
"""
