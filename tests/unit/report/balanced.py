"""A parser of pages that insists on tags being closed in turn."""

from html.parser import HTMLParser

VOID = {"meta", "img", "link", "br", "hr", "input"}


class Balanced(HTMLParser):
    """Collects what a page holds and fails on a tag that is closed out of turn."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> at {self.getpos()} closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser
