"""What the rehearsal model says. Both languages have the same phrases with the same fields; a test holds
that.

No phrase claims a deed: deeds are told from records and results only (outcomes.py).
"""

from __future__ import annotations

from typing import Final

from assistant.agent.rehearsal.phrases_pt import PORTUGUESE

ENGLISH: Final = {
    # talk
    "hello": "Hello! What shall we do? You can ask me, for example, to send a quote or to list new leads.",
    "you_are_welcome": "You're welcome.",
    "goodbye": "Until next time.",
    "who_am_i": (
        "I'm the rehearsal model: a built-in stand-in with fixed answers, not a real language model. "
        "I call the same tools and wait for the same cards as a real one."
    ),
    "capabilities": (
        "This is what I can do here:\n\n{listed}\n\nAnything that leaves the company waits on a card for you."
    ),
    "not_understood": "I didn't understand that. This is what I can do here:\n\n{listed}",
    "cannot_yet": "I can't do that yet: the tool for it is not available to me.",
    "cannot_decide": "I can't decide a card, and words here don't either: please use the buttons on the card itself.",
    "nothing_to_decide": "There is no open card, so there is nothing to confirm. What would you like to do?",
    "never_mind": "All right, I leave it.",
    "did_not_work": "That didn't work: {why}",
    "enough_steps": "I stop here: this took more steps than I may take in one turn. Please ask for less at once.",
    "no_further": "I got no further with this. Please name the record, for example by its number.",
    "on_the_card": "Please look at the card.",
    # finding
    "whom": "Whom do you mean? Please give me a name?",
    "nobody": "I found nobody and nothing for “{name}”.",
    "or": " or ",
    "which_of": "I found {count}: {listed}. Which one?",
    "several": "I found {count}:",
    "which": "Which one do you mean?",
    "is_it_this": "I found one: {one}. Is that the one?",
    "which_quote": "Which quote do you mean?",
    "which_invoice": "Which invoice do you mean?",
    "which_payment": "Which payment do you mean?",
    "no_quote": "I found no quote for “{name}”.",
    "no_invoice": "I found no invoice for “{name}”.",
    "no_payment": "I found no payment of “{name}”.",
    # lists and single records
    "list": "{count} in the list:\n\n{lines}",
    "list_total": "{count} in the list, {total} in all:\n\n{lines}",
    "empty_list": "There is nothing in that list.",
    "record": "{one}.",
    "record_more": "{one}.\n\n{lines}",
    "total_is": "The total of {ref} is {total}.",
    "no_total": "I see no total for {ref}.",
    # cards
    "card_quote": "I put {one} on a card. Please check it and confirm there.",
    "card_quotes": "I put each of them on a card of its own: {listed}. Please check them and decide there.",
    "card_invoice": "I put {one} on a card. Please check it and confirm there.",
    "card_email": "I put the message to {name} on a card. Please check the text and confirm there.",
    "card_payment": "I put the payment of {amount} by {name} on a card. Please check it and confirm there.",
    "card_refund": "I put a refund of {amount} for {ref} on a card. Please check it and confirm there.",
    "card_convert": "I put turning {name} into a client on a card. Please check it and confirm there.",
    "card_delete": "I put moving {name} to the trash on a card. Please check it and confirm there.",
    "card_again": "I put it on a new card with today's data. Please check it and confirm there.",
    # deeds that need no card
    "lead_made": "The lead is in the list: {one}.",
    "client_made": "The client is in the list: {one}.",
    "duplicates": "There may be one already: {listed}. Nothing new was made. Is it the same person?",
    "quote_made": "The draft is ready: {one}. Say “send it” when you want it on a card.",
    "invoice_made": "The draft invoice is ready: {one}.",
    "lines_changed": "The lines of {one} are changed.",
    "note_added": "The note is on {name}.",
    "draft_ready": "Here is a draft for {name}:\n\n{body}\n\nIt is only a draft. Say “email it” to put it on a card.",
    "stage_changed": "{name} is now in the stage “{stage}”.",
    "contact_changed": "The data of {name} is changed.",
    "archived": "{name} is archived. The documents stay.",
    "preview": "Here is the preview of {one}.",
    # questions
    "ask_lead": "What is the name of the lead, and how can they be reached?",
    "ask_client": "What is the name of the client?",
    "ask_lines": "What should be on the quote? For example: “28 squares of shingles and 2 hours of labor”.",
    "ask_body": "What should I write to {name}?",
    "ask_note": "What should the note say?",
    "ask_amount": "How much?",
    "ask_stage": "To which stage?",
    "ask_lost": "Why was it lost: price, competitor, no reply, out of area, timing, duplicate, or something else?",
    "ask_change": "What should be changed, and to what?",
    "ask_edit": "Which line should change, and how?",
    "no_such_line": "I see no line “{name}” on {ref}.",
    "not_in_price_book": "The price book has nothing for: {names}. Give me a price for it, or another name?",
    "no_price": "The price book has nothing for “{name}”.",
    "price": "{lines}",
    "nothing_again": "There is no earlier proposal to repeat.",
    # outcomes
    "executed": "Done: {what}",
    "failed": "This was not done: {what}",
    "rejected": "All right, this will not happen: {what}",
    "rejected_reason": "All right, this will not happen: {what} You said: “{reason}”.",
    "change_how": "Tell me what to change, and I put it on a new card.",
    "cancelled": "The card is closed, nothing was done: {what}",
    "expired": "The card ran out before anyone decided, nothing was done: {what} Say “again” for a new one.",
    "superseded": "A newer card took its place: {what}",
    "awaiting_second": "That is one approval; a second person still has to confirm: {what}",
    "in_doubt": (
        "It is uncertain whether this happened: {what} It will not be tried again by itself; someone has to check."
    ),
    "edited": "You changed it: {what}",
    "open_still": "That still waits for your decision on its card: {what}",
    "under_way": "That is confirmed and under way: {what}",
    "nothing_yet": "I see nothing that was to go out.",
    "state_is": "{one}.",
    "state_to": "{one}. Recipient: {to}.",
    "pending_none": "No card is waiting.",
    # defaults in what is written
    "subject": "A message from {company}",
    "subject_plain": "A short message",
    "about": "I am writing about {topic}",
    "greeting": "Hello {name},\n\n{body}\n\nKind regards",
    "quote_title": "Quote: {what}",
}

CAPABILITIES: Final = {
    "en": {
        "send_quote": "send a quote (“send the Smith quote”)",
        "create_quote": "write a quote (“quote for Novak: 12 squares of shingles and 2 hours of labor”)",
        "search_price_book": "look up a price (“how much is ridge vent?”)",
        "list_leads": "list leads, and add one (“new lead: Maria Lopez, 512-555-0133, roof leak”)",
        "list_clients": "list and find clients",
        "send_email": "write to a client (“email John Smith that we come on Friday”)",
        "add_note": "keep a note (“note on John Smith: prefers mornings”)",
        "list_overdue_invoices": "say who owes money",
        "send_invoice": "prepare and send invoices",
        "record_payment": "record a payment (“Gonzalez paid 500 by check”)",
        "refund_payment": "prepare a refund (“refund 100 of PAY-0310”)",
        "list_pending_actions": "say what waits for a decision",
    },
    "pt": {
        "send_quote": "enviar um orçamento (“envia o orçamento do Silva”)",
        "create_quote": "montar um orçamento (“orçamento para a Mariana: 120 m² de telha e mão de obra”)",
        "search_price_book": "consultar um preço (“quanto custa a calha?”)",
        "list_leads": "listar leads e cadastrar um (“novo lead: Maria Lopes, 19 99123-0144, goteira”)",
        "list_clients": "listar e procurar clientes",
        "send_email": "escrever a um cliente (“avisa a Mariana que vamos na sexta”)",
        "add_note": "anotar algo (“anota no João Silva: prefere de manhã”)",
        "list_overdue_invoices": "dizer quem está devendo",
        "send_invoice": "preparar e enviar faturas",
        "record_payment": "registrar um pagamento (“a Mariana pagou 500 em dinheiro”)",
        "refund_payment": "preparar uma devolução (“devolve 100 do PAY-0201”)",
        "list_pending_actions": "dizer o que espera decisão",
    },
}

PHRASES: Final = {"en": ENGLISH, "pt": PORTUGUESE}
