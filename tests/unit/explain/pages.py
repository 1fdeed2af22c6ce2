"""What is wrong with an HTML page: tags that do not match, and anything that needs more than the page itself."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}


class _Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "object"):
            self.problems.append(f"<{tag}> needs more than the page")
        self.problems += [f"{name} on <{tag}>" for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")


def problems_of(page: str) -> list[str]:
    checker = _Checker()
    checker.feed(page)
    checker.close()
    addresses = [word for word in ("http:", "https:", "url(", "@import") if word in page]
    return checker.problems + [f"<{tag}> is not closed" for tag in checker.open] + addresses
