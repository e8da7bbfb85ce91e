"""An embedded editor for the edit types of a data factory: classical image processing that reads the words.

It shows what a factory does with real pixels when no model is at hand. What it cannot do it refuses, with the reason.
"""
