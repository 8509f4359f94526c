"""Messages in somebody's own words: drafted for a person to look at, or sent after a person confirmed."""

import uuid
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from assistant.tools.effects import Effect
from assistant.tools.facts import Fact, Phrase, Preview, Target
from assistant.tools.fields import EmailText, Ref, SubjectHint
from assistant.tools.figures import Known, strange_figures
from assistant.tools.mailing import hand_over, look_up, reserved_for, stored_message
from assistant.tools.party_words import namesakes, party_candidate
from assistant.tools.quote_words import party_kind
from assistant.tools.quotes import party_by_ref, quote_of
from assistant.tools.registry import Context, Found, OnReject, Prepared, ReadResult, Receipt, ToolArguments, tool
from assistant.tools.send_facts import (
    addressed,
    frozen_mail,
    letter_facts,
    party_fact,
    people_facts,
    people_warnings,
    thawed_mail,
    words_warnings,
)
from assistant.tools.subjects import require_subject
from ledger import locales
from ledger.actions.letters import free_letter
from ledger.actions.messages import (
    Enclosed,
    check_words,
    draft_message,
    record_email_failed,
    record_email_sent,
    reserve_email,
    sender_of,
)
from ledger.actions.quote_documents import file_name, without_bytes
from ledger.actions.recipients import recipients_for
from ledger.errors import DomainError
from ledger.models import Client, Lead, Quote, QuoteRevision

Subject = Annotated[str, StringConstraints(max_length=160)]
Body = Annotated[str, StringConstraints(max_length=4000)]


@tool(label=gettext_lazy("Draft a message"), permission="draft_message", effects=())
class DraftMessage:
    """Write a draft e-mail/SMS/WhatsApp for the user to look at. Sends nothing."""

    class Arguments(ToolArguments):
        party_ref: Ref
        channel: Literal["email", "sms", "whatsapp"]
        subject: Subject | None = None
        body: Body
        related_ref: Ref | None = None

    def run(ctx: Context, arguments: Any) -> ReadResult:
        party = party_by_ref(arguments.party_ref)
        related = quote_of(arguments.related_ref) if arguments.related_ref else None
        if related is not None and related.party != party:
            sentence = _("%(ref)s belongs to somebody else.") % {"ref": related.ref}
            raise DomainError("NOT_OF_THE_PARTY", sentence, ref=related.ref)
        message = draft_message(
            party,
            by=ctx.member,
            channel=arguments.channel,
            subject=arguments.subject or "",
            body=arguments.body,
            revision=related.revisions.get(n=related.revision) if related else None,
        )
        data = {"ref": message.ref, "status": message.status, "subject": message.subject, "body": message.body}
        return ReadResult(data, touched=(message.ref, party.ref))


@tool(
    label=gettext_lazy("Send e-mail"),
    permission="send_email",
    effects={Effect.NOTICE},
    irreversible=True,
    on_reject=OnReject.KEEP_DRAFT,
    undo_seconds=10,
    editable=("subject", "body", "cc"),
    promises={"message": "there"},
)
class SendEmail:
    """Send a free-form e-mail to one client, lead or vendor."""

    class Arguments(ToolArguments):
        party_ref: Ref
        subject: Subject
        body: Body
        cc: Annotated[list[EmailText], Field(max_length=3)] | None = None
        attach_refs: Annotated[list[Ref], Field(min_length=1, max_length=5)] | None = None
        subject_hint: SubjectHint | None = None

    def prepare(ctx: Context, arguments: Any) -> Prepared:
        party = party_by_ref(arguments.party_ref)
        if arguments.subject_hint:
            require_subject(arguments.subject_hint, party_candidate(party), namesakes(party))
        sender_of(ctx.company)
        letter = free_letter(party, ctx.company, subject=arguments.subject, body=arguments.body)
        check_words(letter)
        people = recipients_for(party, cc=arguments.cc or (), documents=False)
        attached = [_attachment(party, ref) for ref in dict.fromkeys(arguments.attach_refs or ())]
        strange = strange_figures(arguments.body, _known(party), _locale(party, ctx))
        effects = {Effect.STRANGER} if people.strangers else set()
        return Prepared(
            payload=frozen_mail(letter, people)
            | {"party": party.ref, "channel": "email", "attachments": [told for _fact, told in attached]},
            preview=Preview(
                title=Phrase("send_email_title", {"subject": letter.subject, "who": party.name}),
                button=Phrase("send_email_button", {"who": party.name}),
                facts=(
                    party_fact(party),
                    *people_facts(people),
                    *letter_facts(letter),
                    *(fact for facts, _told in attached for fact in facts),
                ),
                consequences=(
                    Phrase("send_email_goes_out", {"who": addressed(people)}),
                    Phrase("cannot_be_undone_once_sent"),
                ),
                warnings=(
                    *people_warnings(party, people),
                    *words_warnings(arguments.body, letter.body, strange),
                ),
            ),
            summary=_("Send an e-mail to %(who)s (%(address)s): “%(subject)s”")
            % {"who": party.name, "address": addressed(people), "subject": letter.subject},
            targets=(Target(party_kind(party), str(party.pk), party.version),),
            more_effects=frozenset(effects | ({Effect.DOCUMENT} if attached else set())),
            messages=1,
        )

    def reserve(ctx: Context, payload: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        enclosed = [
            Enclosed(without_bytes().get(sha256=told["sha256"]), told["name"]) for told in payload["attachments"]
        ]
        party = party_by_ref(payload["party"])
        message = reserve_email(party, by=ctx.member, key=key, mailing=thawed_mail(payload), enclosed=enclosed)
        return reserved_for(message)

    def call(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> dict[str, Any]:
        return hand_over(reserved, key)

    def record(
        ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], result: dict[str, Any], key: uuid.UUID
    ) -> Receipt:
        message = record_email_sent(
            stored_message(reserved),
            by=ctx.member,
            provider=result["provider"],
            provider_id=result["provider_id"],
        )
        text = _("“%(subject)s” was sent to %(who)s (message %(message)s).") % {
            "subject": message.subject,
            "who": ", ".join(message.to),
            "message": message.ref,
        }
        return Receipt(text, facts={"message": message.ref}, provider_ref=result["provider_id"])

    def release(ctx: Context, payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> None:
        record_email_failed(stored_message(reserved), by=ctx.member, problem="REFUSED")

    def reconcile(payload: dict[str, Any], reserved: dict[str, Any], key: uuid.UUID) -> Found | None:
        return look_up(reserved, key)

    def keep(ctx: Context, payload: dict[str, Any]) -> None:
        """A rejected e-mail stays as a draft."""
        draft_message(
            party_by_ref(payload["party"]),
            by=ctx.member,
            channel="email",
            subject=payload["subject"],
            body=payload["body"],
        )


def _attachment(party: Client | Lead, ref: str) -> tuple[list[Fact], dict[str, Any]]:
    """A quote's document that the client has already been sent; nothing else leaves by this way."""
    quote = quote_of(ref)
    sent: QuoteRevision | None = (
        quote.revisions.filter(sent_at__isnull=False)
        .select_related("document")
        .defer("document__content", "document__preview")
        .order_by("-n")
        .first()
    )
    if quote.party != party or sent is None or sent.document is None:
        sentence = _("%(ref)s was not sent to %(who)s, so it cannot be attached; send the quote itself.") % {
            "ref": quote.ref,
            "who": party.name,
        }
        raise DomainError("NOT_ATTACHABLE", sentence, ref=quote.ref)
    name, sha256 = file_name(quote, sent), sent.document.sha256
    facts = [
        Fact("attachment", "text", name),
        Fact("pages", "count", sent.document.pages),
        Fact("sha256", "hash", sha256),
    ]
    return facts, {"ref": quote.ref, "name": name, "sha256": sha256}


def _known(party: Client | Lead) -> Known:
    """The figures of the party's quotes."""
    mine = {"lead": party} if isinstance(party, Lead) else {"client": party}
    quotes = Quote.objects.filter(**mine, deleted_at=None)
    revisions = list(QuoteRevision.objects.filter(quote__in=quotes))
    cents = {
        amount
        for one in revisions
        for amount in (
            one.subtotal_total_cents,
            one.discount_total_cents,
            one.tax_total_cents,
            one.total_cents,
            one.deposit_total_cents,
            one.total_cents - one.deposit_total_cents,
        )
    }
    percents = {part for one in revisions for part in (one.discount_percent, one.deposit_percent) if part is not None}
    return Known(
        frozenset(cents), frozenset(one.valid_until for one in revisions if one.valid_until), frozenset(percents)
    )


def _locale(party: Client | Lead, ctx: Context) -> str:
    locale = party.language if isinstance(party, Client) else ctx.company.locale
    return str(locales.babel_locale(locale)).replace("_", "-")
