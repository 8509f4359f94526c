"""The phrases in Portuguese (see phrases.py)."""

from __future__ import annotations

from typing import Final

PORTUGUESE: Final = {
    # conversa
    "hello": "Olá! O que vamos fazer? Você pode pedir, por exemplo, para enviar um orçamento ou listar os leads novos.",
    "you_are_welcome": "De nada.",
    "goodbye": "Até a próxima.",
    "who_am_i": (
        "Sou o modelo de ensaio: um substituto embutido, com respostas fixas, e não um modelo de linguagem de verdade. "
        "Chamo as mesmas ferramentas e espero pelas mesmas confirmações que um de verdade."
    ),
    "capabilities": "Aqui eu consigo:\n\n{listed}\n\nTudo o que sai da empresa espera a sua confirmação.",
    "not_understood": "Não entendi. Aqui eu consigo:\n\n{listed}",
    "cannot_yet": "Ainda não consigo fazer isso: a ferramenta não está disponível para mim.",
    "cannot_decide": "Nem eu nem as palavras aqui decidimos: use os botões do próprio pedido de confirmação.",
    "nothing_to_decide": "Não há pedido aberto, então não há o que confirmar. O que você gostaria de fazer?",
    "never_mind": "Tudo bem, deixo como está.",
    "did_not_work": "Não deu certo: {why}",
    "enough_steps": "Paro aqui: isso tomou mais passos do que posso dar de uma vez. Peça menos por vez, por favor.",
    "no_further": "Não avancei com isso. Diga o registro, por exemplo pelo número.",
    "on_the_card": "Veja o pedido de confirmação, por favor.",
    # procura
    "whom": "De quem você fala? Pode me dar um nome?",
    "nobody": "Não encontrei ninguém nem nada para “{name}”.",
    "or": " ou ",
    "which_of": "Encontrei {count}: {listed}. Qual deles?",
    "several": "Encontrei {count}:",
    "which": "Qual deles?",
    "is_it_this": "Encontrei um: {one}. É esse?",
    "which_quote": "De qual orçamento você fala?",
    "which_invoice": "De qual fatura você fala?",
    "which_payment": "De qual pagamento você fala?",
    "no_quote": "Não encontrei orçamento para “{name}”.",
    "no_invoice": "Não encontrei fatura para “{name}”.",
    "no_payment": "Não encontrei pagamento de “{name}”.",
    # listas e registros
    "list": "{count} na lista:\n\n{lines}",
    "list_total": "{count} na lista, {total} ao todo:\n\n{lines}",
    "empty_list": "Não há nada nessa lista.",
    "record": "{one}.",
    "record_more": "{one}.\n\n{lines}",
    "total_is": "O total de {ref} é {total}.",
    "no_total": "Não vejo um total em {ref}.",
    # pedidos de confirmação
    "card_quote": "Coloquei {one} em um pedido de confirmação. Confira e confirme por lá.",
    "card_quotes": "Coloquei cada um em seu próprio pedido de confirmação: {listed}. Confira e decida por lá.",
    "card_invoice": "Coloquei {one} em um pedido de confirmação. Confira e confirme por lá.",
    "card_email": "Coloquei a mensagem para {name} em um pedido de confirmação. Confira o texto e confirme por lá.",
    "card_payment": "Coloquei o pagamento de {amount} de {name} em um pedido de confirmação. Confira por lá.",
    "card_refund": "Coloquei o reembolso de {amount} de {ref} em um pedido de confirmação. Confira por lá.",
    "card_convert": "Coloquei em um pedido de confirmação a passagem de {name} para cliente. Confira por lá.",
    "card_delete": "Coloquei em um pedido de confirmação a ida de {name} para a lixeira. Confira e confirme por lá.",
    "card_again": "Coloquei em um novo pedido de confirmação, com os dados de hoje. Confira e confirme por lá.",
    # o que não precisa de confirmação
    "lead_made": "O lead está na lista: {one}.",
    "client_made": "O cliente está na lista: {one}.",
    "duplicates": "Talvez já exista: {listed}. Não criei nada novo. É a mesma pessoa?",
    "quote_made": "O rascunho está pronto: {one}. Diga “manda” quando quiser que eu peça a sua confirmação.",
    "invoice_made": "O rascunho da fatura está pronto: {one}.",
    "lines_changed": "As linhas de {one} estão alteradas.",
    "note_added": "A anotação está em {name}.",
    "draft_ready": (
        "Um rascunho para {name}:\n\n{body}\n\nÉ só um rascunho. Diga “manda por e-mail” e eu peço a sua confirmação."
    ),
    "stage_changed": "{name} está agora na etapa “{stage}”.",
    "contact_changed": "Os dados de {name} estão alterados.",
    "archived": "{name} está no arquivo. Os documentos ficam.",
    "preview": "Aqui está a prévia de {one}.",
    # perguntas
    "ask_lead": "Qual é o nome do lead, e como falar com ele?",
    "ask_client": "Qual é o nome do cliente?",
    "ask_lines": "O que entra no orçamento? Por exemplo: “120 m² de telha termoacústica e mão de obra”.",
    "ask_body": "O que escrevo para {name}?",
    "ask_note": "O que devo anotar?",
    "ask_amount": "Quanto?",
    "ask_stage": "Para qual etapa?",
    "ask_lost": "Por que se perdeu: preço, concorrente, sem resposta, fora da área, prazo, duplicado ou outro motivo?",
    "ask_change": "O que devo mudar, e para quê?",
    "ask_edit": "Qual linha devo mudar, e como?",
    "no_such_line": "Não vejo a linha “{name}” em {ref}.",
    "not_in_price_book": "A tabela de preços não tem nada para: {names}. Pode me dar um preço ou outro nome?",
    "no_price": "A tabela de preços não tem nada para “{name}”.",
    "price": "{lines}",
    "nothing_again": "Não há proposta anterior para repetir.",
    # desfechos
    "executed": "Feito: {what}",
    "failed": "Isto não foi feito: {what}",
    "rejected": "Certo, isto não vai acontecer: {what}",
    "rejected_reason": "Certo, isto não vai acontecer: {what} Você disse: “{reason}”.",
    "change_how": "Diga o que devo mudar, e eu faço um novo pedido de confirmação.",
    "cancelled": "O pedido foi fechado, nada foi feito: {what}",
    "expired": "O pedido expirou sem decisão, nada foi feito: {what} Diga “de novo” para ter outro.",
    "superseded": "Um pedido mais novo ficou no lugar: {what}",
    "awaiting_second": "Essa é uma aprovação; falta a confirmação de uma segunda pessoa: {what}",
    "in_doubt": (
        "Não há certeza de que isto aconteceu: {what} Não será tentado de novo sozinho; alguém precisa verificar."
    ),
    "edited": "Você alterou: {what}",
    "open_still": "Isso ainda espera a sua decisão no pedido de confirmação: {what}",
    "under_way": "Isso está confirmado e em andamento: {what}",
    "nothing_yet": "Não vejo nada que devesse sair.",
    "state_is": "{one}.",
    "state_to": "{one}. Destinatário: {to}.",
    "pending_none": "Nenhum pedido de confirmação espera decisão.",
    # padrões do que se escreve
    "subject": "Uma mensagem de {company}",
    "subject_plain": "Uma mensagem rápida",
    "about": "Escrevo sobre {topic}",
    "greeting": "Olá, {name},\n\n{body}\n\nAtenciosamente",
    "quote_title": "Orçamento: {what}",
}
