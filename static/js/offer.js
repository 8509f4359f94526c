// The client's page of a quote: tells that it was on a screen, and counts options as they are chosen.

const answer = document.querySelector("form[data-seen]");

// The company's own people come from its pages; the client's page itself sends no referrer.
const fromInside = document.referrer.startsWith(`${location.origin}/`);

function tell() {
  if (!answer || fromInside || document.visibilityState !== "visible") return;
  document.removeEventListener("visibilitychange", tell);
  const body = new URLSearchParams({ form: answer.elements.form.value });
  fetch(answer.dataset.seen, { method: "POST", body, keepalive: true, credentials: "omit" }).catch(() => {});
}

document.addEventListener("visibilitychange", tell);
tell();

for (const option of document.querySelectorAll("input[form=options]")) {
  option.addEventListener("change", () => option.form.requestSubmit());
}
