"""A page that forebay wrote, as a test reads it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page, and whether each that begins ends in its place. `void`: elements that have no end."""

    def __init__(self, text, void):
        super().__init__()
        self.void, self.open, self.elements, self.text = void, [], [], ""
        self.inside, self.around = [], []  # attributes of what is open, now and at each element
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.add(tag, attributes)
        if tag not in self.void:
            self.open.append(tag)
            self.inside.append(dict(attributes))

    def handle_startendtag(self, tag, attributes):
        self.add(tag, attributes)

    def add(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.around.append(list(self.inside))

    def handle_endtag(self, tag):
        begun = self.open.pop()
        self.inside.pop()
        assert begun == tag, f"</{tag}> ends <{begun}>"

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def of_class(self, name):
        return [attributes for _, attributes in self.elements if attributes.get("class") == name]

    def troubles_of_a_telephone(self):
        """What is cut or cannot be read where a page is 366 pixels wide: tables that do not move by themselves, and
        drawings whose letters have less than 10.5 pixels there."""
        found = []
        for (tag, attributes), around in zip(self.elements, self.around, strict=True):
            classes = {name for each in around for name in each.get("class", "").split()}
            if tag == "table" and not classes & {"scroll", "words"}:
                found.append("a table that is wider is cut")
            if tag == "svg" and "wide" not in classes:
                pixels = 366 / float(attributes["viewbox"].split()[2])
                smallest = min(self.letters_of(attributes))
                if smallest * pixels < 10.5:
                    found.append(f"{attributes['aria-label']}: letters of {smallest * pixels:.1f} pixels")
        return found

    def letters_of(self, drawing):
        """Sizes of the letters of a drawing, in its own units."""
        yield float(drawing["font-size"])
        for (_, attributes), around in zip(self.elements, self.around, strict=True):
            if "font-size" in attributes and any(each == drawing for each in around):
                yield float(attributes["font-size"])
