// The inbox keeps still: a card that turns into a receipt is shorter, and what stands below it must not slide under a
// finger. Its place keeps its height until the reader scrolls, or until it is out of sight.

class InboxList extends HTMLElement {
  connectedCallback() {
    this.was = new WeakMap();
    this.watch = new ResizeObserver((entries) => entries.forEach(({ target }) => this.keep(target)));
    this.news = new MutationObserver(() => this.look());
    this.news.observe(this.querySelector("#cards"), { childList: true });
    this.release = () => this.querySelectorAll(".entry").forEach((entry) => this.free(entry));
    this.closest(".scroll")?.addEventListener("scroll", this.release, { passive: true });
    addEventListener("resize", this.release);
    this.look();
  }

  disconnectedCallback() {
    this.watch.disconnect();
    this.news.disconnect();
    removeEventListener("resize", this.release);
  }

  look() {
    this.querySelectorAll(".entry").forEach((entry) => this.watch.observe(entry.firstElementChild));
  }

  keep(items) {
    const before = this.was.get(items) ?? { height: 0, state: "" };
    const now = { height: items.offsetHeight, state: items.querySelector(".slip")?.dataset.state };
    this.was.set(items, now);
    const entry = items.parentElement;
    const settled = before.state && before.state !== now.state;
    if (settled && now.height < before.height && entry.nextElementSibling) entry.style.minBlockSize = `${before.height}px`;
    else if (now.height >= entry.offsetHeight) this.free(entry);
  }

  free(entry) {
    entry.style.minBlockSize = "";
  }
}
customElements.define("inbox-list", InboxList);
