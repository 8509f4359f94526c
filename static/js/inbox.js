// The inbox keeps still: a card that turns into a receipt is shorter, and what stands below it must not slide under a
// finger. Its place keeps its height until the reader moves on.

const MOVES = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", " "]);

function pin({ target, fragment }) {
  const entry = target?.closest?.("#cards > .entry");
  const made = fragment?.querySelector?.(".slip");
  if (!made || !entry?.nextElementSibling) return;
  if (entry.querySelector(".slip")?.dataset.state !== made.dataset.state) entry.style.minBlockSize = `${entry.offsetHeight}px`;
}

function release() {
  document.querySelectorAll("#cards > .entry").forEach((entry) => (entry.style.minBlockSize = ""));
}

document.addEventListener("htmx:before:swap", ({ detail: { tasks } }) => tasks.forEach(pin));
for (const name of ["wheel", "touchmove"]) document.addEventListener(name, release, { passive: true });
document.addEventListener("keydown", ({ key, target }) => MOVES.has(key) && !target.closest("input, textarea, select, button") && release());
addEventListener("resize", release);
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
