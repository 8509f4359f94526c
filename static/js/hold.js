// Hold to confirm, with a pointer, for two seconds. A key is never held (WCAG 2.1.1), and one that repeats itself is no
// hold either: whoever presses the button with a key, or with a screen reader, types what the card asks for instead,
// which then makes it an ordinary button. Without this script the amount is typed as well.

const HOLD_MS = 2000;
let active = null;

function confirmed(button) {
  button.form.elements.held.value = "1";
  button.form.requestSubmit(button);
}

const typed = (button) => button.form.elements.typed.value.trim() !== "";

function stop() {
  if (!active) return;
  cancelAnimationFrame(active.frame);
  active.button.style.setProperty("--held", "0%");
  active = null;
}

document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest?.("[data-hold]");
  if (!button || button.disabled || !event.isPrimary || event.button !== 0 || typed(button)) return;
  if (button.closest("[data-arming]")) return;
  button.setPointerCapture(event.pointerId);
  const start = performance.now();
  const tick = (now) => {
    if (!active) return;
    const part = Math.min(1, (now - start) / HOLD_MS);
    button.style.setProperty("--held", `${part * 100}%`);
    if (part < 1) active.frame = requestAnimationFrame(tick);
    else {
      stop();
      confirmed(button);
    }
  };
  active = { button, frame: requestAnimationFrame(tick) };
});
for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) document.addEventListener(name, stop);
document.addEventListener("contextmenu", (event) => event.target.closest?.("[data-hold]") && event.preventDefault());

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-hold]");
  if (!button || typed(button)) return;
  event.preventDefault();
  if (event.detail !== 0 && event.pointerType !== "") return;
  button.form.querySelector("[data-typing]").open = true;
  button.form.elements.typed.focus();
});
