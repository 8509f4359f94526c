// The thread follows what is written while its end is in sight, and stays where it is when someone reads further up.

const NEAR_PX = 80;
const HEAD_PX = 16;
const LAST = ".turn:nth-last-child(1 of :has(> .items > *))";
const WAITING = `${LAST} > .items > [data-guard]:not(:has(~ :is(.mine, .said, .line)))`;

class ChatThread extends HTMLElement {
  connectedCallback() {
    this.latest = document.querySelector("[data-latest]");
    this.follows(true);
    this.addEventListener("scroll", () => this.look(), { passive: true });
    this.latest?.addEventListener("click", () => this.follow());
    document.addEventListener("aval:sent", () => this.follow());
    document.addEventListener("submit", ({ target }) => (this.asked ||= target.matches("[data-asks]")));
    document.addEventListener("aval:confirm", () => this.asked && this.follow());
    const thread = this.querySelector("#thread");
    this.sizes = new ResizeObserver(() => this.following && this.toEnd());
    this.sizes.observe(thread);
    this.sizes.observe(this);
    const wanted = location.hash && document.getElementById(location.hash.slice(1));
    if (wanted) {
      this.follows(false);
      wanted.scrollIntoView();
    } else this.toEnd();
  }

  disconnectedCallback() {
    this.sizes.disconnect();
  }

  look() {
    const left = this.scrollHeight - this.scrollTop - this.clientHeight;
    this.follows(left < NEAR_PX || (this.following && this.placed === this.scrollTop));
    this.latest?.toggleAttribute("hidden", this.following);
  }

  follow() {
    this.asked = false;
    this.follows(true);
    this.toEnd();
  }

  // Who follows is moved here and by nobody else: the browser keeps the place only of one who reads further up.
  follows(on) {
    this.following = on;
    this.toggleAttribute("data-following", on);
  }

  // The end, or the head of the first card that waits there where they are taller than the window: its sum is read
  // before its buttons. What was said after the cards is the end, and is seen.
  toEnd() {
    this.scrollTop = this.scrollHeight;
    const card = this.querySelector(WAITING);
    const over = card ? this.getBoundingClientRect().top - card.getBoundingClientRect().top + HEAD_PX : 0;
    if (over > 0) this.scrollTop -= over;
    this.placed = this.scrollTop;
    this.latest?.setAttribute("hidden", "");
  }
}
customElements.define("chat-thread", ChatThread);

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).innerText.trim());
  document.getElementById("status").textContent = button.dataset.done;
});
