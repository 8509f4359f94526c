"""The demonstration's quotes: the totals that the cast is known by, each quote as far as it got."""

import json
from typing import Any

import pytest
from django.core.management import call_command

from ledger import audit, tenancy
from ledger.demo.loading import SEED
from ledger.models import Acceptance, Access, ClientMessage, PublicLink, Quote, QuoteRevision
from ledger.numbering import next_number

OWNERS = {"lone-ridge": "dana@loneridge.example", "aurora": "rafael@aurora.example"}


@pytest.fixture(scope="module", autouse=True)
def loaded(database: Any) -> None:
    call_command("load_demo", verbosity=0)


def company_of(slug: str) -> Any:
    return Access.objects.get(user__email=OWNERS[slug]).tenant_id


def seeded(slug: str) -> dict[str, Any]:
    (entry,) = [one for one in json.loads(SEED.read_text())["tenants"] if one["slug"] == slug]
    return {quote["ref"]: quote for quote in entry["quotes"]}


@pytest.mark.parametrize("slug", OWNERS)
def test_every_quote_has_the_totals_of_the_seed_to_the_cent(slug: str) -> None:
    with tenancy.tenant(company_of(slug)):
        for ref, entry in seeded(slug).items():
            quote = Quote.objects.get(ref=ref)
            revision = quote.revisions.get(n=quote.revision)
            lines = list(revision.lines.all())
            expected = entry["totals"]
            assert [line.net_total_cents for line in lines] == expected["line_net"], ref
            assert [line.share_cents for line in lines] == expected["discount_alloc"], ref
            assert revision.tax_lines == expected["tax_lines"], ref
            found = {
                "subtotal": revision.subtotal_total_cents,
                "discount": revision.discount_total_cents,
                "tax": revision.tax_total_cents,
                "total": revision.total_cents,
            }
            assert found == {name: expected[name] for name in found}, ref
            assert revision.deposit_total_cents == expected.get("deposit", 0), ref
            assert (quote.status, revision.n) == (entry["status"], entry["revision"]), ref


def test_the_two_smiths_and_the_two_joaos_are_known_by_their_totals() -> None:
    with tenancy.tenant(company_of("lone-ridge")):
        totals = {ref: Quote.objects.get(ref=ref).revisions.get().total_cents for ref in ("Q-1042", "Q-1047")}
        assert totals == {"Q-1042": 1_015_764, "Q-1047": 484_570}
        assert next_number("quote") == "Q-1048"
    with tenancy.tenant(company_of("aurora")):
        totals = {ref: Quote.objects.get(ref=ref).revisions.get().total_cents for ref in ("ORC-0309", "ORC-0310")}
        assert totals == {"ORC-0309": 826_080, "ORC-0310": 358_800}
        assert next_number("quote") == "ORC-0313"


def test_what_was_accepted_has_its_proof_and_what_was_sent_its_page() -> None:
    with tenancy.tenant(company_of("lone-ridge")):
        assert Acceptance.objects.get().signer_name == "Anil Patel"
        assert [r.status for r in Quote.objects.get(ref="Q-1035").revisions.order_by("n")] == ["superseded", "sent"]
        assert Quote.objects.get(ref="Q-1046").revisions.get().request == "Can you add a new ridge vent?"
        sent = QuoteRevision.objects.filter(status="sent")
        assert PublicLink.objects.filter(object_id__in=sent.values("pk"), closed_at=None).count() == sent.count()
        assert not ClientMessage.objects.filter(status="sent").exists()  # nothing pretends to have gone out
        assert audit.verify().whole


def test_a_second_load_adds_no_quote() -> None:
    with tenancy.tenant(company_of("lone-ridge")):
        before = list(Quote.objects.order_by("pk").values())
    call_command("load_demo", verbosity=0)
    with tenancy.tenant(company_of("lone-ridge")):
        assert list(Quote.objects.order_by("pk").values()) == before
