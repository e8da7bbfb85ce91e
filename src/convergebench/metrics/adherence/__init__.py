"""Did the edit happen, was it undone? Kept beside quality: "nothing happened" must not pass for "nothing was lost"."""
