// Passkeys. A strong card's confirmation waits for the device's signature over what the card shows; the account's page
// makes a new key. The server asks and checks; here bytes are carried between it and the device.

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
const keys = (ids) => ids.map((one) => ({ type: "public-key", id: bytes(one.id), transports: one.transports }));

function answer(credential) {
  const { response } = credential;
  const parts = { clientDataJSON: text(response.clientDataJSON) };
  if (response.attestationObject) {
    parts.attestationObject = text(response.attestationObject);
    parts.transports = response.getTransports?.() ?? [];
  } else {
    parts.authenticatorData = text(response.authenticatorData);
    parts.signature = text(response.signature);
  }
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response: parts });
}

function say(form, words) {
  const place = form.querySelector("[data-problem]");
  place.textContent = words;
  place.hidden = !words;
}

// The second submit carries the signature and goes its ordinary way.
document.addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (!form.dataset.passkey || !submitter?.matches("[data-confirm]") || form.elements.assertion.value) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form.dataset.asking) return;
  form.dataset.asking = "1";
  say(form, "");
  const { challenge, rpId, origin, credentials } = JSON.parse(form.dataset.passkey);
  try {
    if (location.origin !== origin) throw new Error("elsewhere");
    const publicKey = {
      challenge: bytes(challenge), rpId, allowCredentials: keys(credentials), userVerification: "required",
    };
    form.elements.assertion.value = answer(await navigator.credentials.get({ publicKey }));
    form.requestSubmit(submitter);
  } catch {
    form.elements.held.value = "";
    say(form, location.origin === origin ? form.dataset.failed : form.dataset.elsewhere);
  } finally {
    delete form.dataset.asking;
  }
}, true);

async function add(form) {
  const asked = await fetch(form.dataset.passkeyAdd, { method: "POST", body: new FormData(form) });
  const { options, detail } = await asked.json();
  if (!options) return say(form, detail);
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: keys(options.excludeCredentials),
  };
  form.elements.credential.value = answer(await navigator.credentials.create({ publicKey }));
  form.elements.password.value = "";
  return form.submit();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.passkeyAdd) return;
  event.preventDefault();
  say(form, "");
  const button = event.submitter;
  if (button) button.disabled = true;
  add(form).catch(() => say(form, form.dataset.failed)).finally(() => button && (button.disabled = false));
});
