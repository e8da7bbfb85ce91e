"""What is learned once and shipped as numbers: the code that makes the data, learns and judges."""
