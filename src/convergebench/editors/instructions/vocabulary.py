"""The words that instructions are made of: objects, colours, positions, parts of a picture. Data only."""

from __future__ import annotations

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

THING_WORDS: dict[str, tuple[str, ...]] = {
    "sunglasses": ("sunglasses", "sun glasses", "shades", "dark glasses"),
    "glasses": ("glasses", "eyeglasses", "eye glasses", "spectacles", "eyewear", "goggles"),
    "hat": ("hat", "fedora", "sun hat", "straw hat", "top hat", "cowboy hat", "bowler"),
    "cap": ("cap", "baseball cap", "beanie"),
    "earrings": ("earrings", "earring", "ear rings"),
    "necklace": ("necklace", "pendant", "pearls", "gold chain"),
    "scarf": ("scarf", "shawl"),
    "bow tie": ("bow tie", "bow-tie", "bowtie"),
    "tie": ("tie", "necktie"),
    "headphones": ("headphones", "headphone", "headset"),
    "watch": ("watch", "wristwatch", "wrist watch"),
    "beard": ("beard", "clean-shaven", "clean shaven"),
    "moustache": ("moustache", "mustache"),
    "chair": ("chair", "armchair", "stool", "seat"),
    "lamp": ("lamp", "table lamp", "floor lamp", "desk lamp"),
    "candle": ("candle", "candles"),
    "cup": ("cup", "coffee cup", "mug", "teacup", "cup of coffee", "cup of tea", "coffee"),
    "book": ("book", "open book", "notebook"),
    "umbrella": ("umbrella", "parasol"),
    "ball": ("ball", "football", "beach ball", "sphere"),
    "balloon": ("balloon", "balloons"),
    "bottle": ("bottle", "wine bottle"),
    "gift": ("gift", "present", "gift box", "box", "parcel"),
    "clock": ("clock", "wall clock"),
    "plant": ("plant", "potted plant", "houseplant", "house plant", "plant in a pot", "plant in the pot"),
    "vase": ("vase", "flower vase", "vase with flowers", "vase of flowers", "flowers", "bouquet", "flower"),
    "cat": ("cat", "kitten"),
    "dog": ("dog", "puppy"),
    "bird": ("bird", "parrot", "sparrow"),
    "grapes": ("grapes", "grape", "bunch of grapes"),
    "cherry": ("cherry", "cherries"),
    "mandarin": ("mandarin", "tangerine", "clementine"),
    "melon": ("melon", "cantaloupe", "honeydew"),
    "starfruit": ("starfruit", "star fruit", "carambola"),
}
_FRUITS = (
    "apple", "pear", "banana", "grapes", "strawberry", "pineapple", "watermelon", "melon", "orange", "lemon", "lime",
    "grapefruit", "mandarin", "peach", "apricot", "nectarine", "plum", "cherry", "mango", "papaya", "kiwi",
    "pomegranate", "fig", "quince", "coconut", "avocado", "raspberry", "blackberry", "blueberry", "cranberry",
    "gooseberry", "currant", "dragon fruit", "passion fruit", "guava", "lychee", "persimmon", "starfruit", "durian",
    "jackfruit",
)  # fmt: skip
for _fruit in _FRUITS:
    _plural = _fruit[:-1] + "ies" if _fruit.endswith("y") else _fruit + "s"
    THING_WORDS.setdefault(_fruit, (_fruit, _plural))

COLOURS: dict[str, Colour] = {
    "red": (206, 34, 34),
    "green": (46, 140, 62),
    "blue": (38, 82, 190),
    "yellow": (242, 206, 48),
    "orange": (240, 128, 30),
    "purple": (122, 56, 160),
    "violet": (122, 56, 160),
    "pink": (238, 130, 170),
    "brown": (118, 76, 44),
    "black": (28, 28, 32),
    "white": (244, 243, 240),
    "grey": (136, 136, 138),
    "gray": (136, 136, 138),
    "gold": (214, 170, 70),
    "golden": (214, 170, 70),
    "silver": (190, 192, 198),
    "turquoise": (52, 180, 176),
    "teal": (24, 128, 128),
    "cyan": (40, 190, 210),
    "magenta": (206, 40, 150),
    "beige": (222, 206, 172),
    "wooden": (158, 108, 64),
    "blonde": (222, 188, 118),
    "blond": (222, 188, 118),
}

ADD_WORDS: tuple[str, ...] = (
    "add", "put", "place", "insert", "give", "wear", "wearing", "include", "introduce", "attach", "draw", "lay", "set",
    "hang", "let", "wrap", "dress", "there should be", "there is", "bring", "grow", "hold",
    "holding", "with", "have", "show", "create", "stand", "sit", "paint",
)  # fmt: skip
REMOVE_WORDS: tuple[str, ...] = (
    "remove", "removing", "delete", "erase", "take off", "take away", "take out", "get rid of", "eliminate", "without",
    "clear away", "stop wearing", "shave", "shave off", "no longer", "strip", "wears none", "should be no",
    "there is no", "clean-shaven", "clean shaven", "discard",
)  # fmt: skip

PLACES: dict[str, tuple[str, ...]] = {
    "top left": ("top left", "upper left"),
    "top right": ("top right", "upper right"),
    "top": ("at the top", "in the sky", "in the air", "above", "overhead"),
    "corner": ("corner",),
    "left": ("left",),
    "right": ("right",),
    "foreground": ("foreground", "in front"),
    "background": ("in the background", "in the distance"),
    "centre": ("centre", "center", "middle"),
    "table": ("on the table", "on the surface", "on the desk", "on the counter", "on a table"),
    "floor": ("on the floor", "on the ground", "on the grass"),
}

SUBJECTS: dict[str, tuple[str, ...]] = {
    "hair": ("hair",),
    "background": ("background", "backdrop", "wall"),
    "sky": ("sky",),
    "clothes": ("shirt", "clothes", "clothing", "dress", "jacket", "sweater", "coat", "t-shirt", "suit", "top"),
    "lips": ("lips", "lipstick"),
    "eyes": ("eye colour", "eye color", "iris"),
    "face": ("face", "skin"),
    "main": (
        "main object",
        "main subject",
        "object",
        "subject",
        "car",
        "apple",
        "house",
        "door",
        "sofa",
        "vehicle",
        "flower",
        "it",
    ),
}
"""Parts of a picture that can be recoloured, and their names; `main` is the salient object."""
