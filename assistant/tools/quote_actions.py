"""Deeds on quotes that a person has to confirm: send one, throw one away."""

import uuid
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.facts import Attached, Fact, Phrase, Preview, Target, money
from assistant.tools.fields import EmailText, Ref, SubjectHint
from assistant.tools.figures import Known, strange_figures
from assistant.tools.mailing import hand_over, look_up, reserved_for, stored_message
from assistant.tools.quote_words import candidate, others_like, party_kind
from assistant.tools.quotes import quote_of
from assistant.tools.registry import Context, Found, OnReject, Prepared, Receipt, ToolArguments, tool
from assistant.tools.send_facts import (
    addressed,
    document_warnings,
    frozen_mail,
    letter_facts,
    party_fact,
    people_facts,
    people_warnings,
    thawed_mail,
    words_warnings,
)
from assistant.tools.subjects import require_subject
from ledger import reader
from ledger.actions.letters import own_words
from ledger.actions.quote_documents import Days, locale_of
from ledger.actions.quote_sending import (
    Frozen,
    QuoteSend,
    plan_quote_send,
    record_quote_send_failed,
    record_quote_sent,
    reserve_quote_send,
    revision_of,
)
from ledger.actions.quotes import delete_quote, refuse_delete_quote
from ledger.models import Quote
from ledger.money import percent_text

TRASH_DAYS = 30


@tool(
    label=gettext_lazy("Send quote"),
    permission="send_quote",
    effects={Effect.DOCUMENT},
    compensation="withdraw_quote",
    irreversible=True,
    on_reject=OnReject.KEEP_DRAFT,
    undo_seconds=10,
    editable=("to", "cc", "message"),
    promises={"message": "there"},
)
class SendQuote:
    """Send the quote PDF and acceptance link to the client by e-mail, SMS link or WhatsApp."""

    class Arguments(ToolArguments):
        quote_ref: Ref
        channel: Literal["email", "sms", "whatsapp"]
        to: Annotated[str, StringConstraints(max_length=200)] | None = None
        cc: Annotated[list[EmailText], Field(max_length=3)] | None = None
        message: Annotated[str, StringConstraints(max_length=1500)] | None = None
        subject_hint: SubjectHint | None = None

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        quote = quote_of(arguments.quote_ref)
        if arguments.subject_hint:
            require_subject(arguments.subject_hint, candidate(quote), others_like(quote))
        plan = plan_quote_send(
            quote,
            by=ctx.member,
            channel=arguments.channel,
            to=arguments.to or "",
            cc=arguments.cc or (),
            words=arguments.message or "",
        )
        return Prepared(
            payload=_payload(plan),
            preview=_preview(plan, ctx, arguments.message or ""),
            summary=_summary(plan),
            targets=(_target(quote), _target(quote.party)),
            more_effects=frozenset({Effect.STRANGER}) if plan.recipients.strangers else frozenset(),
            amount_cents=plan.revision.total_cents,
            messages=1,
        )

    def reserve(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        frozen = Frozen(
            mailing=thawed_mail(payload),
            days=Days(date.fromisoformat(payload["issued_on"]), date.fromisoformat(payload["valid_until"])),
            document_sha256=payload["document_sha256"],
            content_hash=payload["content_hash"],
            version=payload["version"],
        )
        quote = Quote.objects.get(pk=payload["quote"])
        return reserved_for(reserve_quote_send(quote, by=ctx.member, key=key, frozen=frozen))

    def call(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        return hand_over(reserved, key)

    def record(
        ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], result: dict[str, Any], key: uuid.UUID
    ) -> Receipt:
        message = stored_message(reserved)
        record_quote_sent(message, by=ctx.member, provider=result["provider"], provider_id=result["provider_id"])
        text = _("Quote %(ref)s was sent to %(who)s (message %(message)s).") % {
            "ref": revision_of(message).quote.ref,
            "who": ", ".join(payload["to"]),
            "message": message.ref,
        }
        facts = {"message": message.ref, "sha256": payload["document_sha256"]}
        return Receipt(text, facts=facts, provider_ref=result["provider_id"])

    def release(ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> None:
        record_quote_send_failed(stored_message(reserved), by=ctx.member, problem="REFUSED")

    def reconcile(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
        return look_up(reserved, key)


@tool(
    label=gettext_lazy("Delete quote"),
    permission="delete_quote",
    effects={Effect.REMOVAL},
    compensation="restore_record",
    promises={"quote": "trashed"},
)
class DeleteQuote:
    """Move a never-sent, declined, expired or withdrawn quote to the trash. Sent/accepted quotes cannot be deleted."""

    class Arguments(ToolArguments):
        quote_ref: Ref
        subject_hint: SubjectHint

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        quote = quote_of(arguments.quote_ref)
        require_subject(arguments.subject_hint, candidate(quote), others_like(quote))
        refuse_delete_quote(quote)
        revision = quote.revisions.get(n=quote.revision)
        total = money(revision.total_cents, quote.currency)
        words = {"quote": quote.ref, "who": quote.party.name}
        until = (timezone.localtime() + timedelta(days=TRASH_DAYS)).date()
        return Prepared(
            payload={"quote": str(quote.pk), "ref": quote.ref, "version": quote.version},
            preview=Preview(
                title=Phrase("delete_quote_title", words),
                button=Phrase("delete_quote_button", words),
                facts=(
                    Fact("quote", "ref", quote.ref),
                    Fact("title", "text", quote.title),
                    party_fact(quote.party),
                    Fact("total", "money", total),
                    Fact("status", "text", str(quote.status)),
                    Fact("created_at", "datetime", quote.created_at),
                    Fact("created_by", "text", quote.owner.name),
                ),
                consequences=(Phrase("restorable_until", {"day": {"date": until.isoformat()}}),),
            ),
            summary=_("Move quote %(quote)s for %(who)s to the trash.") % words,
            targets=(_target(quote),),
        )

    def execute(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> Receipt:
        quote = delete_quote(Quote.objects.get(pk=payload["quote"]), by=ctx.member, expected_version=payload["version"])
        return Receipt(_("Quote %(ref)s is in the trash.") % {"ref": quote.ref}, facts={"quote": quote.ref})

    def reverse(payload: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        return {"record_ref": payload["ref"]}


def _payload(plan: QuoteSend) -> dict[str, Any]:
    return frozen_mail(plan.letter, plan.recipients) | {
        "quote": str(plan.quote.pk),
        "ref": plan.quote.ref,
        "revision": plan.revision.n,
        "version": plan.quote.version,
        "channel": "email",
        "issued_on": plan.days.issued_on.isoformat(),
        "valid_until": plan.days.valid_until.isoformat(),
        "document_sha256": plan.document.sha256,
        "content_hash": plan.content_hash,
        "file_name": plan.file_name,
        "total_cents": plan.revision.total_cents,
        "currency": plan.quote.currency,
    }


def _preview(plan: QuoteSend, ctx: Context, written: str) -> Preview:
    quote, revision, party = plan.quote, plan.revision, plan.quote.party
    total = money(revision.total_cents, quote.currency)
    words = {"quote": quote.ref, "who": party.name, "total": total}
    facts = [
        party_fact(party),
        *people_facts(plan.recipients),
        *letter_facts(plan.letter),
        Fact("quote", "ref", quote.ref),
        Fact("revision", "count", revision.n),
        Fact("title", "text", quote.title),
        Fact("subtotal", "money", money(revision.subtotal_total_cents, quote.currency)),
        *_when(revision.discount_total_cents, "discount", quote.currency),
        *([Fact("discount_given", "percent", percent_text(plan.discount))] if plan.discount else []),
        Fact("tax", "money", money(revision.tax_total_cents, quote.currency)),
        Fact("total", "money", total),
        *_when(revision.deposit_total_cents, "deposit", quote.currency),
        Fact("valid_until", "date", plan.days.valid_until),
        Fact("attachment", "text", plan.file_name),
        Fact("pages", "count", plan.document.pages),
        Fact("sha256", "hash", plan.document.sha256),
    ]
    strange = strange_figures(written, _known(plan), locale_of(quote, ctx.company))
    return Preview(
        title=Phrase("send_quote_title", words),
        button=Phrase("send_quote_button", words),
        facts=tuple(facts),
        consequences=(
            Phrase("send_quote_goes_out", {"who": addressed(plan.recipients)}),
            Phrase("send_quote_again" if plan.again else "send_quote_freezes", words),
            Phrase("cannot_be_undone_once_sent"),
        ),
        warnings=(
            *people_warnings(party, plan.recipients),
            *words_warnings(written, own_words(written), strange),
            *document_warnings(plan.document),
        ),
        document=Attached("quote", str(plan.document.pk), plan.document.sha256, plan.document.pages, plan.file_name),
    )


def _summary(plan: QuoteSend) -> str:
    """The one sentence of the card, in the language of the person who reads it."""
    return _("Send quote %(ref)s, revision %(revision)s, “%(title)s”, for %(total)s to %(who)s (%(address)s).") % {
        "ref": plan.quote.ref,
        "revision": plan.revision.n,
        "title": plan.quote.title,
        "total": reader.amount(plan.revision.total_cents, plan.quote.currency),
        "who": plan.quote.party.name,
        "address": addressed(plan.recipients),
    }


def _known(plan: QuoteSend) -> Known:
    """Every figure that the quote has."""
    revision = plan.revision
    lines = list(revision.lines.all())
    totals = revision.totals(lines)
    cents = {totals.subtotal, totals.discount, totals.tax, totals.total, totals.deposit, totals.balance}
    cents |= {amount for row in totals.lines for amount in (row.gross, row.net, row.discount)}
    cents |= {int(line.unit_price * 100) for line in lines}
    percents = {plan.discount, *(line.tax_rate for line in lines), *(tax.rate for tax in totals.tax_lines)}
    percents |= {part for part in (revision.discount_percent, revision.deposit_percent) if part is not None}
    return Known(
        cents=frozenset(cents),
        days=frozenset({plan.days.valid_until, plan.days.issued_on}),
        percents=frozenset(Decimal(percent) for percent in percents),
    )


def _when(cents: int, name: str, currency: str) -> list[Fact]:
    return [Fact(name, "money", money(cents, currency))] if cents else []


def _target(row: Any) -> Target:
    kind = "quote" if isinstance(row, Quote) else party_kind(row)
    return Target(kind, str(row.pk), row.version)
