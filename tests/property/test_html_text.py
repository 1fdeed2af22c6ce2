"""Tags are told from text as by the standard library's parser, of pages whose tags close."""

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.data.readers.html_text import _pieces, html_text, unescaped


class Slow(HTMLParser):
    """(what is text or tag, what it is) one after the other."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found = [""]

    def handle_starttag(self, tag, attrs):
        self.found += [f"<{tag}>", ""]

    def handle_endtag(self, tag):
        self.found += [f"</{tag}>", ""]

    def handle_data(self, data):
        self.found[-1] += data


words = st.text("ab c\n\"'=/&;#1\u00e9>", max_size=6)
names = st.sampled_from(
    ["p", "DIV", "a", "h2", "b", "svg", "x-y"]
)  # newer versions of the twin take what a title holds for text
attributes = st.sampled_from(
    ["", " a", " a=b", ' a="b > c"', " a='<p>'", ' a = "b"', " a=b c", " a=''", ' href="/x?a=1&amp;b"', "\n a\n=\nb\n"]
)
texts = words.map(lambda text: text.replace("/>", "").replace("<", ""))
pages = st.recursive(
    texts
    | st.sampled_from(
        ["<br>", "<br/>", "<!-- a <p> -- b -->", "<!doctype html>", "<?x y?>", "&lt;p&gt;", "a < b", "1<2"]
    )
    | st.sampled_from(["<script>if (a<b) '</p>'</script>", "<style>p > a {}</style>", "<script src='x'/>"]),
    lambda inner: st.builds(
        lambda name, said, inside: f"<{name}{said}>{''.join(inside)}</{name}>", names, attributes, st.lists(inner)
    ),
)


@settings(max_examples=25)
@given(st.lists(pages, max_size=6).map("".join))
def test_tags_and_texts_are_the_same(page):
    slow = Slow()
    slow.feed(page)
    slow.close()
    found = [""]
    for text, tag, is_whole in _pieces(page):
        found[-1] += unescaped(text)
        if tag:
            found += [f"<{tag}>", ""]
            found += [f"</{tag}>", ""] if is_whole and not tag.startswith("/") else []
    hidden = [f"<{name}>" for name in ("script", "style")]
    for place, one in enumerate(slow.found):
        if one in hidden and slow.found[place + 2 : place + 3]:
            slow.found[place + 1] = ""  # what stands in scripts is never text
    assert found == slow.found


@settings(max_examples=60)
@given(st.text("<>/!-&;'\"=aps \n", max_size=40))
def test_any_page_is_read(page):
    title, text = html_text(page)
    assert isinstance(title, str) and isinstance(text, str)
