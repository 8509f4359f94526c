// The composer: Enter sends, Shift and Enter makes a new line, a draft is kept for each conversation in this tab.
// No single key decides a card: Escape leaves a form of a card, or stops the answer that is being written.

const PREFIX = "draft:";

class ChatComposer extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.text = this.querySelector("textarea");
    this.name = PREFIX + this.dataset.conversation;
    this.text.value ||= sessionStorage.getItem(this.name) ?? "";
    this.text.addEventListener("input", () => this.keep());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.form.addEventListener("submit", (event) => this.text.value.trim() || event.preventDefault(), true);
    this.form.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
      if (ctx.sourceElement === this.form && ctx.response.status < 300) this.sent(ctx.request.body.get("text"));
    });
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.repeat) return;
    event.preventDefault();
    if (this.text.value.trim()) this.form.requestSubmit();
  }

  keep() {
    if (this.text.value) sessionStorage.setItem(this.name, this.text.value);
    else sessionStorage.removeItem(this.name);
  }

  sent(text) {
    if (this.text.value === text) this.text.value = "";
    this.keep();
    document.dispatchEvent(new CustomEvent("aval:sent"));
  }
}
customElements.define("chat-composer", ChatComposer);

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === "Escape") {
    const leave = event.target.closest?.("[data-panel]")?.querySelector("[data-leave]");
    (leave ?? document.querySelector("[data-stop]"))?.click();
  } else if (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    const find = document.querySelector(".find input");
    if (!find?.checkVisibility()) return;
    event.preventDefault();
    find.select();
  } else if (event.key === "/" && event.target === document.body) {
    event.preventDefault();
    document.querySelector("chat-composer textarea")?.focus();
  }
});

// Nothing of a conversation stays in the tab after leaving the company or the account.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-leaving]")) return;
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
});

// A suggestion is written into the composer; sending it is the person's own deed.
document.addEventListener("click", ({ target }) => {
  const words = target.closest?.("[data-suggest]")?.dataset.suggest;
  const text = words && document.querySelector("chat-composer textarea");
  if (!text) return;
  text.value = words;
  text.dispatchEvent(new Event("input"));
  text.focus();
});
