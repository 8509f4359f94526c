// The thread follows what is written while its end is in sight, and stays where it is when someone reads further up.

const NEAR_PX = 80;

class ChatThread extends HTMLElement {
  connectedCallback() {
    this.latest = document.querySelector("[data-latest]");
    this.following = true;
    this.addEventListener("scroll", () => this.look(), { passive: true });
    this.latest?.addEventListener("click", () => this.follow());
    document.addEventListener("aval:sent", () => this.follow());
    const thread = this.querySelector("#thread");
    this.sizes = new ResizeObserver(() => this.following && this.toEnd());
    this.sizes.observe(thread);
    this.sizes.observe(this);
    const wanted = location.hash && document.getElementById(location.hash.slice(1));
    if (wanted) {
      this.following = false;
      wanted.scrollIntoView();
    } else this.toEnd();
  }

  disconnectedCallback() {
    this.sizes.disconnect();
  }

  look() {
    this.following = this.scrollHeight - this.scrollTop - this.clientHeight < NEAR_PX;
    this.latest?.toggleAttribute("hidden", this.following);
  }

  follow() {
    this.following = true;
    this.toEnd();
  }

  toEnd() {
    this.scrollTop = this.scrollHeight;
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
