"""The bytes: the same each time, safe with any name, whole over many pages, readable by machines."""

import hashlib
import io
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from ledger.documents import Addressee, first_page_png, invoice_pdf, quote_pdf, render
from ledger.money import MoneySettings
from tests.ledger.documents import samples

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = [
    '#panic("x")',
    "#sys.inputs $x^2$ *b* _i_ `r` @ref <label> // comment",
    "[Click](https://evil.example) <script>alert(1)</script>",
    'He said "hi" \\ C:\\new\\u{41}',
    "= Heading\n- list",
    "{{ company }} %(number)s {page} {0}",
]


def read(content: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(content))


def text_of(content: bytes) -> str:
    """All the text, without the zero-width spaces that let long words break."""
    return "\n".join(page.extract_text() for page in read(content).pages).replace("\u200b", "")


def flat(text: str) -> str:
    return "".join(text.split())


def test_equal_values_give_equal_bytes():
    first, second = quote_pdf(samples.quote()), quote_pdf(samples.quote())
    assert first == second
    assert render(samples.quote()).sha256 == hashlib.sha256(first).hexdigest()
    assert quote_pdf(samples.quote(number="Q-1043")) != first


def test_another_process_at_another_time_gives_the_same_bytes():
    program = (
        "import django, hashlib; django.setup()\n"
        "from tests.ledger.documents import samples\nfrom ledger.documents import quote_pdf\n"
        "print(hashlib.sha256(quote_pdf(samples.quote())).hexdigest())"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings_processes", "TZ": "Asia/Tokyo", "PATH": "/usr/bin:/bin"}
    environment |= {"DEBUG": "0", "SECRET_KEY": "k" * 50, "AVAL_HOSTS": "testserver", "AVAL_URL": "http://testserver"}
    environment |= {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == hashlib.sha256(quote_pdf(samples.quote())).hexdigest()


def test_the_document_has_no_date_of_its_own_and_speaks_its_language():
    reader = read(quote_pdf(samples.brazilian_quote()))
    assert reader.metadata is not None
    assert reader.metadata.creation_date is None
    assert reader.metadata.author == "Telhados Aurora Ltda"
    assert reader.trailer["/Root"]["/Lang"] == "pt-BR"
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"].value is True


def test_only_the_fonts_of_the_house_are_embedded():
    [page] = read(quote_pdf(samples.quote())).pages
    fonts = {font.get_object()["/BaseFont"].partition("+")[2] for font in page["/Resources"]["/Font"].values()}
    assert fonts == {f"AtkinsonHyperlegibleNext-{weight}" for weight in ("Regular", "SemiBold", "Bold")}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_and_never_markup(name):
    document = samples.quote(
        client=Addressee(name=name, address=name),
        title=name,
        terms=name,
        lines=(samples.line(name, "1", "10.00", group=name),),
        settings=MoneySettings(),
    )
    content = quote_pdf(document)
    shown = " ".join(name.split())
    assert flat(text_of(content)).count(flat(shown)) == 6
    assert not any("/Annots" in page for page in read(content).pages)


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1, max_size=60))
def test_any_text_can_be_set(text):
    rendered = render(samples.quote(client=Addressee(name=text), title=text, terms=text))
    assert rendered.pages == 1


def test_a_character_that_no_font_has_is_told():
    assert render(samples.quote(client=Addressee(name="Иван Łukasz Ωmega"))).complete
    for name in ("石井", "Roof 🏠"):
        assert not render(samples.quote(client=Addressee(name=name))).complete


def test_a_long_document_is_whole_and_numbered():
    lines = tuple(samples.line(f"Item {n:03d} with a description", str(n), "10.00") for n in range(1, 121))
    document = samples.quote(lines=lines, settings=MoneySettings(), terms="\n".join(f"Clause {n}." for n in range(60)))
    rendered = render(document)
    texts = [page.extract_text() for page in read(rendered.content).pages]
    assert rendered.pages == len(texts) == 5
    assert [f"Page {n} of 5" in text for n, text in enumerate(texts, 1)] == [True] * 5
    assert all("Quote Q-1042" in text for text in texts[1:])
    everything = "".join(texts)
    assert [n for n in range(1, 121) if f"Item {n:03d} with" not in everything] == []
    assert everything.count("Unit price") == sum("Item" in text for text in texts)
    assert "Clause 59." in texts[-1]


def test_a_long_word_stays_on_the_sheet():
    word = "W" * 120
    document = samples.quote(
        client=Addressee(name=word, email=f"{'a' * 60}@{'b' * 60}.example"),
        title=word,
        lines=(samples.line(word, "1", "10.00"),),
        settings=MoneySettings(),
    )
    assert flat(text_of(quote_pdf(document))).count(word) == 3
    margins, inside = ink(first_page_png(document, ppi=40))
    assert (margins, inside > 0) == (0, True)


def test_the_preview_is_the_first_page():
    png = first_page_png(samples.quote(), ppi=50)
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (425, 550)
    assert first_page_png(samples.quote(), ppi=50) == png
    assert render(samples.quote()).preview == first_page_png(samples.quote())


def test_threads_do_not_disturb_each_other():
    wanted = {number: hashlib.sha256(quote_pdf(samples.quote(number=number))).hexdigest() for number in "ABCD"}
    made: dict[str, set[str]] = {number: set() for number in wanted}

    def work(number: str) -> None:
        for _ in range(5):
            made[number].add(hashlib.sha256(quote_pdf(samples.quote(number=number))).hexdigest())

    threads = [threading.Thread(target=work, args=(number,)) for number in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == {number: {sha256} for number, sha256 in wanted.items()}


def test_an_invoice_is_set_from_the_same_family():
    text = text_of(invoice_pdf(samples.invoice()))
    assert "Invoice" in text
    assert "INV-0238" in text
    assert flat("Balance due by December 16, 2026 $10,157.64") in flat(text)


def ink(png: bytes) -> tuple[int, int]:
    """Pixels that are not white in the outer 15 mm at the sides, and in between."""
    width = int.from_bytes(png[16:20])
    depth, colour, interlaced = png[24], png[25], png[28]
    assert (depth, colour, interlaced) == (8, 6, 0)
    rows = _unfiltered(_idat(png), width * 4)
    edge = int(15 / 25.4 * 40)
    margins = inside = 0
    for row in rows:
        for x in range(width):
            if row[x * 4 : x * 4 + 3] != b"\xff\xff\xff":
                margins, inside = (margins + 1, inside) if x < edge or x >= width - edge else (margins, inside + 1)
    return margins, inside


def _idat(png: bytes) -> bytes:
    packed, at = b"", 8
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4]), png[at + 4 : at + 8]
        packed += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return zlib.decompress(packed)


def _unfiltered(packed: bytes, stride: int) -> list[bytes]:
    """The rows of an 8-bit RGBA picture (PNG specification, filter types 0 to 4)."""
    rows, above = [], bytes(stride)
    for at in range(0, len(packed), stride + 1):
        kind, row = packed[at], bytearray(packed[at + 1 : at + 1 + stride])
        for x in range(stride):
            left, up = (row[x - 4] if x >= 4 else 0), above[x]
            corner = above[x - 4] if x >= 4 else 0
            near = min((left, up, corner), key=lambda value, p=left + up - corner: abs(p - value))
            row[x] = (row[x] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        above = bytes(row)
        rows.append(above)
    return rows
