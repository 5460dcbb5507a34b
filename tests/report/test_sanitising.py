"""Text of a submission is shown for what it is, and never acts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha_judge.sanitising import clean, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\u{1b}[31mred\\u{1b}[0m"),
        ("\x1b]8;;https://x\x07link", "\\u{1b}]8;;https://x\\u{7}link"),
        ("a\rb", "a\\u{d}b"),
        ("a\bb\x7f", "a\\u{8}b\\u{7f}"),
        ("\x9b31m", "\\u{9b}31m"),
        ("\0", "\\u{0}"),
        ("user\u202egpj.exe", "user\\u{202e}gpj.exe"),
        ("\u2066x\u2069", "\\u{2066}x\\u{2069}"),
        ("pass\u200bword\ufeff", "pass\\u{200b}word\\u{feff}"),
        ("a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"),
        ("\ud800", "\\u{d800}"),
        ("\ue000\uffff", "\\u{e000}\\u{ffff}"),
        ("\U000e0041", "\\u{e0041}"),
    ],
)
def test_what_a_terminal_would_act_on_is_made_visible(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text", ["", "plain", "é 漢字 ∂ 🙂", "two\nlines\tand a tab", "[red]<b>&amp;"]
)
def test_plain_text_stays_as_it_is(text):
    assert clean(text) == text


@given(st.text(st.characters(), max_size=60), st.integers(0, 50))
def test_nothing_that_acts_is_left_and_the_length_is_bounded(text, limit):
    shown = clean(text, limit)

    assert len(shown) <= limit + 1
    acting = [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"]
    assert acting == []
    shown.encode("utf-8")


def test_text_that_is_shown_in_full_loses_nothing_to_what_is_made_visible():
    assert visible("\x1b" * 3 + "end") == "\\u{1b}" * 3 + "end"


def test_a_cut_is_marked_and_a_flood_is_not_walked_through():
    assert clean("x" * 10**7, 5) == "xxxxx…"
    assert clean("x" * 5, 5) == "xxxxx"
