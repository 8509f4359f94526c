"""What may become of an invoice: the moves of its state table, and the columns that tell of it."""

# What may still change once the number is there: what became of it, never what it says.
FATE = (
    "status",
    "document",
    "sent_at",
    "viewed_at",
    "voided_at",
    "credited_cents",
    "allocated_cents",
    "written_off_cents",
    "balance_cents",
    "promise_on",
    "disputed",
    "reminders",
    "last_reminder_on",
    "search",
    "version",
    "updated_at",
    "updated_by",
)

TRANSITIONS = [
    *(("draft", after) for after in ("issued", "paid")),
    ("issued", "sent"),
    ("sent", "viewed"),
    *((before, "partially_paid") for before in ("issued", "sent", "viewed")),
    *((before, "paid") for before in ("issued", "sent", "viewed", "partially_paid")),
    *(
        (before, after)
        for before in ("partially_paid", "paid")
        for after in ("issued", "sent", "viewed", "partially_paid")
        if before != after
    ),
    *((before, "void") for before in ("issued", "sent", "viewed", "paid")),
    *((before, "written_off") for before in ("issued", "sent", "viewed", "partially_paid")),
    *(("written_off", after) for after in ("issued", "sent", "viewed", "partially_paid")),
]
