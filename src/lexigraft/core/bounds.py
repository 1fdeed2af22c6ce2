"""How large may be what a stranger can make as large as he likes: bounds that no real file meets, and that keep any
file from taking all memory. docs/howto/own_files.md lists them."""

LARGEST_WHOLE = 64 << 20  # bytes of a file that is read whole, unpacked; of a line, a row, an item: memory holds one
MOST_UNPACKED = 200  # times as many bytes as there are of gzip, of what unpacks to more than a few: text is 3 to 20
FEW_UNPACKED = 4 << 20  # bytes
MOST_FIELDS = 10_000  # of a record
MOST_NESTED = 2_000_000  # lists and objects in one, each of which takes 24 times its bytes
MOST_KEYS = 1_000  # of metadata: each takes bytes of every document
LONGEST_HEADING = 1_000  # characters: each passage below one repeats it, and the title
LONGEST_FRONT_MATTER = 1 << 16  # characters: it is read by a library that takes a minute for a million
DEEPEST_FRONT_MATTER = 32  # lists within lists, each of which takes some of the calls that Python nests
