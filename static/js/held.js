// The time in which a confirmed deed can still be taken back. The server keeps it; this only shows it.

class HeldTime extends HTMLElement {
  connectedCallback() {
    this.bar = this.querySelector("progress");
    this.words = this.querySelector("[data-seconds]");
    this.end = performance.now() + Number(this.dataset.left) * 1000;
    this.timer = setInterval(() => this.show(), 250);
    this.show();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  show() {
    const left = Math.max(0, (this.end - performance.now()) / 1000);
    this.bar.value = this.bar.max - left;
    this.words.textContent = String(Math.ceil(left));
    if (left === 0) clearInterval(this.timer);
  }
}
customElements.define("held-time", HeldTime);
