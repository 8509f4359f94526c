"""What the database itself holds the books to: sums that agree, numbers without gaps, one currency (I5 to I7, I19)."""

from typing import Any

import pgtrigger

INVOICE_AGREES = """
    SELECT i.ref, i.total_cents, i.allocated_cents, i.credited_cents,
           (SELECT coalesce(sum(a.amount_cents), 0) FROM ledger_allocation a WHERE a.invoice_id = i.id),
           (SELECT coalesce(sum(c.amount_cents), 0) FROM ledger_creditnote c WHERE c.invoice_id = i.id)
      INTO ref, whole, stored, stored2, summed, summed2
      FROM ledger_invoice i WHERE i.id = {id};
    IF summed <> stored OR summed2 <> stored2 OR summed > whole - summed2
    THEN RAISE EXCEPTION 'invoice % does not agree with its allocations and credit notes', ref; END IF;
"""
PAYMENT_AGREES = """
    SELECT p.ref, p.amount_cents, p.refunded_cents, p.pending_refund_cents,
           (SELECT coalesce(sum(r.amount_cents), 0) FROM ledger_refund r
             WHERE r.payment_id = p.id AND r.status = 'succeeded'),
           (SELECT coalesce(sum(r.amount_cents), 0) FROM ledger_refund r
             WHERE r.payment_id = p.id AND r.status = 'reserved')
      INTO ref, whole, stored, stored2, summed, summed2
      FROM ledger_payment p WHERE p.id = {id};
    IF summed <> stored OR summed2 <> stored2
    THEN RAISE EXCEPTION 'payment % does not agree with its refunds', ref; END IF;
    SELECT coalesce(sum(a.amount_cents), 0) INTO summed FROM ledger_allocation a WHERE a.payment_id = {id};
    IF summed > whole - stored
    THEN RAISE EXCEPTION 'payment % pays more than it is', ref; END IF;
"""

_SUMS = [(name, "bigint") for name in ("whole", "stored", "stored2", "summed", "summed2")]


def agrees(operation: Any, *checks: tuple[str, str]) -> pgtrigger.Trigger:
    """A trigger that compares the sums at the commit: pairs of a check and the expression of the row's id."""
    body = "".join(check.replace("{id}", row) for check, row in checks)
    return pgtrigger.Trigger(
        name="agrees",
        operation=operation,
        when=pgtrigger.After,
        timing=pgtrigger.Deferred,
        declare=[("ref", "text"), *_SUMS],
        func=f"PERFORM set_config('app.tenant', NEW.tenant_id::text, true); {body} RETURN NULL;",
    )


_TAKEN = """
    IF NOT EXISTS (
        SELECT FROM ledger_sequence s
         WHERE s.tenant_id = NEW.tenant_id AND s.kind = '{kind}' AND s.series = NEW.series AND s.next = NEW.serial + 1)
    THEN RAISE EXCEPTION '% is not the number that was taken from its series', NEW.ref; END IF;
"""
_FOLLOWS = """
    IF last_serial IS NOT NULL AND (NEW.serial <= last_serial OR (NEW.serial <> last_serial + 1 AND NOT last_brought))
    THEN RAISE EXCEPTION '% does not follow the number before it', NEW.ref; END IF;
    IF NEW.issued_on < last_day
    THEN RAISE EXCEPTION '% is dated before the number before it', NEW.ref; END IF;
    RETURN NEW;
"""
_LAST = [("last_serial", "bigint"), ("last_day", "date"), ("last_brought", "boolean")]

_FIRST_HERE = """
    IF NEW.brought THEN
        IF EXISTS (
            SELECT FROM ledger_invoice i
             WHERE i.tenant_id = NEW.tenant_id AND i.series = NEW.series AND i.serial IS NOT NULL AND NOT i.brought)
        THEN RAISE EXCEPTION 'numbers are brought along before the first one is given here'; END IF;
        RETURN NEW;
    END IF;
"""
_LAST_INVOICE = """
    SELECT i.serial, i.issued_on, i.brought INTO last_serial, last_day, last_brought FROM ledger_invoice i
     WHERE i.tenant_id = NEW.tenant_id AND i.series = NEW.series AND i.serial IS NOT NULL
     ORDER BY i.serial DESC LIMIT 1;
"""
_LAST_CREDIT_NOTE = """
    SELECT c.serial, c.issued_on, FALSE INTO last_serial, last_day, last_brought FROM ledger_creditnote c
     WHERE c.tenant_id = NEW.tenant_id AND c.series = NEW.series
     ORDER BY c.serial DESC LIMIT 1;
"""

NUMBER_IN_LINE = pgtrigger.Trigger(
    name="number_in_line",
    operation=pgtrigger.Update,
    when=pgtrigger.Before,
    condition=pgtrigger.Condition("OLD.number IS NULL AND NEW.number IS NOT NULL"),
    declare=_LAST,
    func="".join([_FIRST_HERE, _TAKEN.replace("{kind}", "invoice"), _LAST_INVOICE, _FOLLOWS]),
)
"""An invoice's number is the one that its transaction just took under the lock of the series, and follows the last."""

CREDIT_IN_LINE = pgtrigger.Trigger(
    name="number_in_line",
    operation=pgtrigger.Insert,
    when=pgtrigger.Before,
    declare=_LAST,
    func="".join([_TAKEN.replace("{kind}", "credit_note"), _LAST_CREDIT_NOTE, _FOLLOWS]),
)

CURRENCY_OF_COMPANY = pgtrigger.Trigger(
    name="currency",
    operation=pgtrigger.Insert | pgtrigger.UpdateOf("currency"),
    when=pgtrigger.Before,
    func="""
        IF NEW.currency IS DISTINCT FROM (SELECT c.currency FROM ledger_company c WHERE c.id = NEW.tenant_id)
        THEN RAISE EXCEPTION '% is not in its company''s currency', NEW.ref; END IF;
        RETURN NEW;
    """,
)

SAME_CLIENT = pgtrigger.Trigger(
    name="same_client",
    operation=pgtrigger.Insert,
    when=pgtrigger.Before,
    func="""
        IF NOT EXISTS (
            SELECT FROM ledger_payment p JOIN ledger_invoice i ON i.id = NEW.invoice_id
             WHERE p.id = NEW.payment_id AND p.client_id = i.client_id AND p.currency = i.currency
               AND i.number IS NOT NULL)
        THEN RAISE EXCEPTION 'a payment pays issued invoices of its own client, in their currency'; END IF;
        RETURN NEW;
    """,
)
"""Currency and client of a payment are those of what it pays."""
