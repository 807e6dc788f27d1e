"""Whatever stands in notes and items, the offline model reads it, and twice the same."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.rules import ask, item, note, phrases

TABLES = ("items", "items_de", "stance", "minutes", "days", "dropped", "unticked", "statuses")
WRITTEN = sorted({text for name in TABLES for text, _ in phrases(name)})
MARKS = ("\n> ", "\n- ", " ", "\n", "...", "(", '"', "; ", ": ", "?", " 0 ", " 3 ", "🌶️", "\u00a0")
TITLES = ("牛乳を買う", "。", "!!", "12", "Book the band", "Zelt ausleihen", "Milk")


@st.composite
def torn(draw: st.DrawFn) -> str:
    """Pieces of what people write, cut and put together anyhow."""
    pieces = []
    for text in draw(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=4)):
        start = draw(st.integers(0, len(text)))
        pieces += [text[start : start + draw(st.integers(0, 80))], draw(st.sampled_from(MARKS))]
    return "".join(pieces)


@given(st.lists(torn(), min_size=1, max_size=3), st.sets(st.sampled_from(TITLES)), st.booleans())
def test_whatever_stands_there_is_read_and_twice_the_same(
    texts: list[str], titles: set[str], is_blocked: bool
) -> None:
    status = "BLOCKED" if is_blocked else "OPEN"
    notes = [note(one, f"2026-11-2{day}T10:00:00.000000Z") for day, one in enumerate(texts)]
    items = [item(one, checked=one < "C") for one in sorted(titles)]
    said = ask(*notes, checklist=items, status=status, statusReason="the band")
    assert said == ask(*notes, checklist=items, status=status, statusReason="the band")
