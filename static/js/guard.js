// Input protection, as browsers do for permission prompts: the buttons of a decision ignore every activation until
// they have been in sight for a moment, so that a card which slides under a moving pointer, or under a key already
// pressed, decides nothing.

const WAIT_MS = 700;
const since = new WeakMap();

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting && !since.has(target)) arm(target);
});

function arm(guarded) {
  since.set(guarded, performance.now());
  guarded.dataset.arming = "";
  setTimeout(() => delete guarded.dataset.arming, WAIT_MS);
}

function watch(root) {
  if (root.matches?.("[data-guard]")) sight.observe(root);
  root.querySelectorAll?.("[data-guard]").forEach((guarded) => sight.observe(guarded));
}

function refuse(event) {
  const guarded = event.target.closest?.("[data-guard]");
  if (!guarded || (event.type === "click" && !event.target.closest("button, [role=button]"))) return;
  if (performance.now() - (since.get(guarded) ?? Infinity) >= WAIT_MS) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

document.addEventListener("click", refuse, true);
document.addEventListener("submit", refuse, true);
// A held Enter or Space repeats itself; a repeat decides nothing.
document.addEventListener("keydown", (event) => {
  if (event.repeat && (event.key === "Enter" || event.key === " ") && event.target.closest?.("[data-guard]")) {
    event.preventDefault();
  }
}, true);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("[data-guard]").forEach((guarded) => since.has(guarded) && arm(guarded));
});

watch(document);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) addedNodes.forEach((node) => node.nodeType === Node.ELEMENT_NODE && watch(node));
}).observe(document.body, { childList: true, subtree: true });
