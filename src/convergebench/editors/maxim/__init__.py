"""MAXIM restorers: real learned networks that npm packages ship as TensorFlow.js graphs, run by the room `tfjs`."""
