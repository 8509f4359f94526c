"""What keeps a client from being deleted: documents that went out (I9). Counted for the card, under the row lock
for the deed.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ledger.errors import DomainError
from ledger.models import Client, Quote


@dataclass(frozen=True)
class Documents:
    """How many documents a client has: those that hold it, and drafts that do not."""

    quotes_out: int
    quotes_draft: int

    @property
    def hold(self) -> bool:
        return bool(self.quotes_out)

    def as_json(self) -> dict[str, Any]:
        return {"quotes": self.quotes_out, "draft_quotes": self.quotes_draft}


def documents_of(client: Client) -> Documents:
    """The client's documents that are not in the trash, counted in one query."""
    out = ~Q(status__in=Quote.DELETABLE)
    found = Quote.objects.filter(client=client, deleted_at=None).aggregate(
        out=Count("pk", filter=out), draft=Count("pk", filter=Q(status=Quote.Status.DRAFT))
    )
    return Documents(quotes_out=found["out"], quotes_draft=found["draft"])


def refuse_archive_client(client: Client) -> None:
    """Raises HAS_OPEN_DOCUMENTS with the refs of what is open with the client."""
    found = Quote.objects.filter(client=client, deleted_at=None, status__in=Quote.OPEN)
    refs = list(found.order_by("ref").values_list("ref", flat=True))
    if refs:
        sentence = _("%(ref)s still has quotes open: %(refs)s.") % {"ref": client.ref, "refs": ", ".join(refs)}
        raise DomainError("HAS_OPEN_DOCUMENTS", sentence, quotes=refs)


def refuse_delete_client(client: Client) -> None:
    """Raises HAS_ISSUED_DOCUMENTS with the counts; for the card before anybody is asked, and for the deed (H26)."""
    documents = documents_of(client)
    if documents.hold:
        many = ngettext("%(n)d quote that went out", "%(n)d quotes that went out", documents.quotes_out)
        sentence = _("%(ref)s has %(documents)s and cannot be deleted; it can be archived.") % {
            "ref": client.ref,
            "documents": many % {"n": documents.quotes_out},
        }
        raise DomainError("HAS_ISSUED_DOCUMENTS", sentence, offer="archive_client", **documents.as_json())
