"""Days and times: the field cases H12 (weekday shown), H13, H14, H23, H25, and clocks that jump."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.dates import (
    DateError,
    DateOrder,
    at_wall_time,
    column_order,
    day_ends,
    days_overdue,
    format_date,
    format_datetime,
    is_open,
    is_overdue,
    locale_order,
    month_after,
    parse_date,
    parse_in_order,
    parse_iso,
    parse_local_time,
    today,
    valid_through,
)
from ledger.locales import plain

SAO_PAULO, CHICAGO = "America/Sao_Paulo", "America/Chicago"


def refusal(call, *args) -> DateError:
    with pytest.raises(DateError) as refused:
        call(*args)
    assert refused.value.sentence
    return refused.value


def test_h25_overdue_follows_the_companys_day_and_not_the_servers():
    due = date(2026, 12, 10)
    evening = datetime(2026, 12, 11, 2, 30, tzinfo=UTC)
    midnight = datetime(2026, 12, 11, 3, 0, tzinfo=UTC)
    assert (today(SAO_PAULO, evening), days_overdue(due, SAO_PAULO, evening)) == (due, 0)
    assert not is_overdue(due, SAO_PAULO, evening)
    assert (days_overdue(due, SAO_PAULO, midnight), is_overdue(due, SAO_PAULO, midnight)) == (1, True)
    assert days_overdue(due, "UTC", evening) == 1


def test_a_due_day_in_the_future_is_zero_days_late():
    assert days_overdue(date(2027, 1, 1), "UTC", datetime(2026, 12, 1, tzinfo=UTC)) == 0


def test_the_last_day_of_validity_counts_whole():
    valid_until = valid_through(date(2026, 11, 29), 30)
    assert valid_until == date(2026, 12, 29)
    assert is_open(valid_until, CHICAGO, datetime(2026, 12, 30, 5, 59, tzinfo=UTC))
    assert not is_open(valid_until, CHICAGO, datetime(2026, 12, 30, 6, 0, tzinfo=UTC))
    assert day_ends(valid_until, CHICAGO) == datetime(2026, 12, 30, 6, 0, tzinfo=UTC)


def test_a_day_ends_where_its_midnight_is_skipped():
    assert day_ends(date(2018, 11, 3), SAO_PAULO) == datetime(2018, 11, 4, 3, 0, tzinfo=UTC)


def test_an_instant_without_a_zone_is_a_bug_of_the_caller():
    with pytest.raises(ValueError, match="zone"):
        today(CHICAGO, datetime(2026, 12, 1))  # noqa: DTZ001


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "America", "\x00"])
def test_an_unknown_zone_is_refused(name):
    assert refusal(today, name).code == "UNKNOWN_ZONE"


@pytest.mark.parametrize("text", ["31/02/2027", "30/02/2028", "31/04/2027", "29/02/2027"])
def test_h13_a_day_that_does_not_exist_is_refused_by_name(text):
    refused = refusal(parse_date, text, "pt-BR")
    assert (refused.code, refused.data["date"]) == ("NO_SUCH_DAY", text)
    assert text in refused.sentence


def test_h13_a_leap_day_is_accepted_in_a_leap_year():
    assert parse_date("29/02/2028", "pt-BR") == date(2028, 2, 29)
    assert refusal(parse_iso, "2027-02-29").code == "NO_SUCH_DAY"


def test_a_date_is_read_in_the_locales_order_and_never_turned_round():
    assert parse_date("03/04/2027", "en-US") == date(2027, 3, 4)
    assert parse_date("03/04/2027", "pt-BR") == date(2027, 4, 3)
    assert parse_date(" 2027-04-03 ", "en-US") == date(2027, 4, 3)
    assert refusal(parse_date, "31/12/2026", "en-US").code == "NO_SUCH_DAY"


@pytest.mark.parametrize("text", ["", "tomorrow", "1/2/27", "2027/04/03", "1/2-2027", "1//2027", "٠١/٠٢/٢٠٢٧"])
def test_what_is_not_a_full_date_is_refused(text):
    assert refusal(parse_date, text, "en-US").code == "DATE_FORM"


@pytest.mark.parametrize("text", ["2026-1-5", "20260105", "2026-01-05T00:00", "2026-01-05\n", " 2026-01-05"])
def test_the_machine_form_of_a_date_is_iso_and_nothing_else(text):
    assert refusal(parse_iso, text).code == "DATE_FORM"


def test_locales_know_their_order():
    assert locale_order("en-US") is DateOrder.MONTH_DAY_YEAR
    assert locale_order("pt-BR") is DateOrder.DAY_MONTH_YEAR


def test_h14_one_order_is_found_for_the_whole_column():
    texts = ["11/30/2026", "11/02/2026", "01/05/2027"]
    order = column_order(texts)
    assert order is DateOrder.MONTH_DAY_YEAR
    days = [parse_in_order(text, order) for text in texts]
    assert days == [date(2026, 11, 30), date(2026, 11, 2), date(2027, 1, 5)]


def test_h14_a_column_that_decides_nothing_is_asked_about():
    assert column_order(["03/04/2027"]) is None
    assert column_order(["2027-04-03", "2027-12-31"]) is DateOrder.YEAR_MONTH_DAY


def test_h14_a_column_that_no_order_reads_is_refused():
    assert refusal(column_order, ["13/01/2027", "01/13/2027"]).code == "DATE_COLUMN"


def test_h23_months_are_clamped_and_keep_their_anchor():
    thirty_first = [month_after(date(2027, 1, 31), n) for n in range(6)]
    assert [f"{day:%m-%d}" for day in thirty_first] == ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"]
    assert [month_after(date(2028, 1, 30), n).day for n in range(3)] == [30, 29, 30]
    yearly = [month_after(date(2028, 2, 29), 12 * n).isoformat() for n in range(5)]
    assert yearly == ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]
    assert month_after(date(2027, 1, 15), -1) == date(2026, 12, 15)


def test_a_day_beyond_the_calendar_is_refused():
    assert refusal(valid_through, date(9999, 12, 31), 1).code == "DATE_OUT_OF_RANGE"
    assert refusal(month_after, date(9999, 12, 31), 1).code == "DATE_OUT_OF_RANGE"


def test_an_hour_that_the_clocks_skip_is_refused_with_both_candidates():
    refused = refusal(at_wall_time, datetime(2027, 3, 14, 2, 30), CHICAGO)  # noqa: DTZ001
    assert refused.code == "LOCAL_TIME_SKIPPED"
    assert refused.data["candidates"] == ["2027-03-14T01:30-06:00", "2027-03-14T03:30-05:00"]


def test_an_hour_that_comes_twice_is_refused_with_both_candidates():
    refused = refusal(at_wall_time, datetime(2026, 11, 1, 1, 30), CHICAGO)  # noqa: DTZ001
    assert refused.code == "LOCAL_TIME_TWICE"
    assert refused.data["candidates"] == ["2026-11-01T01:30-05:00", "2026-11-01T01:30-06:00"]


def test_an_ordinary_wall_time_is_one_instant():
    assert parse_local_time("2026-12-01T09:00", CHICAGO) == datetime(2026, 12, 1, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-12-01", "2026-12-01T24:00", "2026-12-01T09:60", "2026-12-01T09:00Z", "9:00"])
def test_a_wall_time_has_no_offset_and_a_real_hour(text):
    assert refusal(parse_local_time, text, CHICAGO).code == "TIME_FORM"


def test_a_date_is_written_in_the_readers_language():
    friday = date(2026, 12, 4)
    assert format_date(friday, "en-US") == "Dec 4, 2026"
    assert format_date(friday, "pt-BR", "full") == "sexta-feira, 4 de dezembro de 2026"
    assert format_date(friday, "pt-BR", "short") == "04/12/2026"


def test_an_instant_is_written_in_the_readers_zone_and_language():
    moment = datetime(2026, 12, 1, 20, 5, tzinfo=UTC)
    assert plain(format_datetime(moment, CHICAGO, "en-US")) == "Dec 1, 2026, 2:05 PM"
    assert plain(format_datetime(moment, SAO_PAULO, "pt-BR")) == "1 de dez. de 2026 17:05"


@given(st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001
def test_a_wall_time_returns_to_itself_or_is_refused(wall):
    wall = wall.replace(second=0, microsecond=0)
    try:
        moment = parse_local_time(wall.isoformat(timespec="minutes"), CHICAGO)
    except DateError as refused:
        assert len(set(refused.data["candidates"])) == 2
    else:
        assert moment.tzinfo is UTC
        assert today(CHICAGO, moment) == wall.date()


@given(st.text(max_size=12))
def test_any_text_is_a_date_or_a_clear_refusal(text):
    try:
        assert isinstance(parse_date(text, "pt-BR"), date)
    except DateError as refused:
        assert refused.code in {"DATE_FORM", "NO_SUCH_DAY"}
