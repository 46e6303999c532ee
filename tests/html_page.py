"""A page that forebay wrote, as a test reads it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page, and whether each that begins ends in its place. `void`: elements that have no end."""

    def __init__(self, text, void):
        super().__init__()
        self.void, self.open, self.elements, self.text = void, [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        begun = self.open.pop()
        assert begun == tag, f"</{tag}> ends <{begun}>"

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def of_class(self, name):
        return [attributes for _, attributes in self.elements if attributes.get("class") == name]
