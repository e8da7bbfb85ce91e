"""The page "Can you trust this metric?": an audit's numbers and pictures as a folder that opens in a browser."""
