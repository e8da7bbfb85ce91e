"""What a picture shows: objects, masks, faces; and filling holes. Networks that packages ship, run on the processor.

Pictures are uint8 arrays of height × width × 3 (RGB). The same picture gives the same answer. Networks are loaded once
per process, when they are first used, and may be used by several threads.
"""
