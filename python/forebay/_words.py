"""Numbers and nouns of messages."""


def plural(count, of_one):
    """ "1 file", "2 files", "0 entries", "3 sets of files": how many, and of what."""
    if count == 1:
        return f"1 {of_one}"
    noun, of, rest = of_one.partition(" of ")
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        noun = noun[:-1] + "ie"
    elif noun.endswith(("s", "x", "ch", "sh")):
        noun += "e"
    return f"{count} {noun}s{of}{rest}"
