"""Text from outside: H29 (apostrophes and accents), H33 (header safety), T23 (what cannot be seen)."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.text import Visible, clean_block, clean_line, mixes_scripts, search_key, visible

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e"
TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "pay")
FILLERS = "\u3164\u115f\u1160\uffa0\u2800\u034f\ufe00\U000e0101"
HIDDEN = [*BIDI, *ZERO_WIDTH, *TAGS, *FILLERS, "\x00", "\x1b", "\x7f", "\ud800", "\ue000", "\uffff"]


def test_h33_a_line_break_in_a_name_becomes_a_space():
    assert clean_line("Smith\r\nBcc: other@example.com") == "Smith Bcc: other@example.com"
    assert clean_line("a\x0bb\x0cc\u0085d\u2028e\u2029f\tg") == "a b c d e f g"


@pytest.mark.parametrize("character", HIDDEN, ids=lambda c: f"U+{ord(c):04X}")
def test_what_cannot_be_seen_is_not_stored_in_a_name(character):
    assert clean_line(f"An{character}a") == "Ana"
    assert clean_block(f"An{character}a") == "Ana"


def test_a_name_keeps_its_letters_and_one_space_between_words():
    assert clean_line("  Conceição\u00a0 D’Ávila\u3000石井 ") == "Conceição D’Ávila 石井"
    assert clean_line("Conceic\u0327a\u0303o") == "Conceição"


def test_paragraphs_keep_their_lines():
    assert clean_block("a\r\nb\rc\n\n\td  e \x00\n") == "a\nb\nc\n\n\td  e"


@pytest.mark.parametrize("character", HIDDEN, ids=lambda c: f"U+{ord(c):04X}")
def test_t23_what_cannot_be_seen_is_written_out(character):
    shown = visible(f"a{character}b@example.com")
    assert shown == (f"a⟨U+{ord(character):04X}⟩b@example.com", True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" + " " * 40 + "b", "a⟨␠×40⟩b"),
        ("a\u2003b", "a⟨U+2003⟩b"),
        ("a\nb", "a⟨U+000A⟩b"),
        ("a" + "\u0301" * 5, "a" + "\u0301" * 3 + "⟨U+0301⟩⟨U+0301⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
    ],
)
def test_t23_padding_and_towers_are_written_out(text, shown):
    assert visible(text) == Visible(shown, True)


def test_t23_an_ordinary_text_is_shown_as_it_is():
    for text in ("João D’Ávila, R$\u00a01.500,00", "4:05\u202fPM", "Ação ❤️ 👩‍👧 👍🏽", "石井", ""):
        assert visible(text) == Visible(text, False)


def test_t23_a_joiner_outside_an_emoji_is_written_out():
    assert visible("a\u200db").hidden
    assert visible("\ufe0fa").hidden
    assert visible("👩\u200da").hidden


def test_t23_a_block_may_have_lines_but_no_wall_of_them():
    assert visible("a\n\tb", lines=True) == Visible("a\n\tb", False)
    assert visible("a" + "\n" * 12 + "b", lines=True) == Visible("a\n⟨⏎×12⟩\nb", True)


@pytest.mark.parametrize("written", ["d'angelo", "D’ANGELO", "dangelo", "D`Angelo", "D´Angelo", "DʼANGELO"])
def test_h29_every_apostrophe_finds_the_name(written):
    assert search_key(written) in search_key("Amy D'Angelo")


def test_h29_accents_and_case_do_not_hide_a_name():
    assert search_key("conceicao") == search_key("CONCEIÇÃO") == "conceicao"
    assert search_key("  Łukasz   Sørensen-Straße ") == "lukasz sorensen strasse"
    assert search_key("Amy\tD'Angelo") == "amy dangelo"


def test_an_address_is_sought_whole():
    assert search_key("J. Smith John.Smith@Example.com") == "j smith john.smith@example.com"


def test_a_look_alike_word_is_known():
    assert mixes_scripts("pаypal")  # the first а is Cyrillic
    assert not any(mixes_scripts(word) for word in ("paypal", "Nº", "1ª", "Ação", "яндекс", "東京タワー"))


TEXTS = st.text(st.characters(), max_size=60)


@given(TEXTS)
@example("\r\n" + BIDI + ZERO_WIDTH + TAGS)
def test_a_clean_line_is_one_line_stays_clean_and_hides_nothing(text):
    line = clean_line(text)
    assert clean_line(line) == line == line.strip()
    assert not set(line) & set("\r\n\x00\t")
    assert line == line.encode().decode()
    assert unicodedata.is_normalized("NFC", line)


@given(TEXTS)
def test_a_clean_block_stays_clean(text):
    block = clean_block(text)
    assert clean_block(block) == block
    assert not set(block) & set("\r\x00")


@given(TEXTS, TEXTS)
def test_two_texts_never_look_the_same(one, other):
    assert (visible(one).text == visible(other).text) == (one == other)


@given(TEXTS)
def test_what_is_made_visible_can_always_be_stored(text):
    shown = visible(text)
    assert shown.text == shown.text.encode().decode()
    assert shown.hidden == (shown.text != text)
    assert "\x00" not in shown.text


@given(TEXTS)
def test_a_search_key_finds_itself(text):
    assert search_key(search_key(text)) == search_key(text)
