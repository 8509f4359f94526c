// Hold to confirm. With a pointer: hold for two seconds. With a keyboard or a screen reader: press, then press again
// within eight seconds (WCAG 2.1.1 rules out a key that must be held down). The form gets held=1; without this
// script it asks for the amount in words of one's own.

const HOLD_MS = 2000;
const AGAIN_MS = 8000;
const APART_MS = 400;
let active = null;

function confirmed(button) {
  relabel(button, false);
  button.form.elements.held.value = "1";
  button.form.requestSubmit(button);
}

function relabel(button, again) {
  button.dataset.label ??= button.textContent;
  button.textContent = again ? button.dataset.again : button.dataset.label;
  button.dataset.pressed = again ? String(performance.now()) : "";
}

function stop() {
  if (!active) return;
  cancelAnimationFrame(active.frame);
  active.button.style.setProperty("--held", "0%");
  active = null;
}

document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest?.("[data-hold]");
  if (!button || button.disabled || !event.isPrimary || event.button !== 0) return;
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
  if (!button) return;
  event.preventDefault();
  if (event.detail !== 0 && event.pointerType !== "") return;
  const pressed = Number(button.dataset.pressed || 0);
  if (!pressed) {
    relabel(button, true);
    setTimeout(() => button.isConnected && relabel(button, false), AGAIN_MS);
  } else if (performance.now() - pressed > APART_MS) confirmed(button);
});
