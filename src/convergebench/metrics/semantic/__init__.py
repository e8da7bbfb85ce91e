"""Is it still a picture of the same thing?"""
