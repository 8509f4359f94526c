// The event stream in the page. Events carry names so that any program can read them; htmx swaps unnamed ones
// only, so the name is taken off just before it looks and given to the page as a DOM event ("aval:confirm" …).

document.addEventListener("htmx:sse:before:message", ({ detail: { message } }) => {
  message.name = message.event;
  message.event = "";
});

document.addEventListener("htmx:sse:after:message", ({ target, detail: { message } }) => {
  target.dispatchEvent(new CustomEvent(`aval:${message.name}`, { bubbles: true, detail: { id: message.id } }));
});

// The swap "place": what comes goes where the element with its id is, or else to its place by data-order. So a
// change may come twice, at once by two ways, or out of order after a lost connection, and the page is the same.
// The stream may overtake the answer to a post by any time: data-seq, the number of the change that an element shows,
// tells what is older than the page, which is left out.

document.addEventListener("htmx:before:swap", ({ detail: { tasks } }) => {
  const place = (task) => (task.swapSpec?.style === "place" ? placed(task) : standing(task));
  tasks.splice(0, tasks.length, ...tasks.flatMap(place));
});

const elementOf = (made) => (made?.id ? document.getElementById(made.id) : null);
const older = (made, there) => Number(made.dataset.seq) < Number(there.dataset.seq);

// The answer to a click does not know where its card stands: where the stream has put it, or where the card before was.
function standing(task) {
  const made = task.fragment?.firstElementChild;
  const there = elementOf(made);
  if (there && older(made, there)) return [];
  if (task.type !== "main" || !made?.dataset.order) return [task];
  const target = there ?? task.target;
  if (target?.dataset?.order) made.dataset.order = target.dataset.order;
  return [{ ...task, target }];
}

function placed(task) {
  return [...task.fragment.children].flatMap((made) => {
    const there = elementOf(made);
    if (there && "shell" in made.dataset) {
      return placed({ ...task, fragment: itemsOf(made), target: there.querySelector(".items") });
    }
    if (there && older(made, there)) return [];
    const stays = there?.dataset.order === made.dataset.order || "only" in (task.target?.dataset ?? {});
    if (there && stays && task.target?.contains(there)) return renewed(task, made, there);
    if (!task.target || "only" in task.target.dataset) return there ? [swap(task, made, there, "outerHTML")] : [];
    if (!there && "shell" in made.dataset) return begun(task, made);
    if (!there) return added(task.target, made);
    keepFocus(there, made);
    there.remove();
    return added(task.target, made);
  });
}

// At once, not as one of htmx's tasks, which wait for each other: meanwhile the same could come by the other way.
function added(parent, made) {
  parent.insertBefore(made, behind(parent, made));
  htmx.process(made);
  made.querySelector("[autofocus]")?.focus();
  return [];
}

// A new turn: what it takes up from elsewhere on the page (a message that waited) moves into it.
function begun(task, section) {
  const fragment = itemsOf(section);
  added(task.target, section);
  return placed({ ...task, fragment, target: section.querySelector(".items") });
}

function itemsOf(section) {
  const fragment = document.createDocumentFragment();
  fragment.append(...section.querySelector(".items").children);
  return fragment;
}

function behind(parent, made) {
  const order = Number(made.dataset.order);
  return [...parent.children].find((child) => Number(child.dataset.order) > order) ?? null;
}

// After a decision the button is gone: focus goes to the heading of what the card became, also when the stream
// brings that before the click's own answer does.

let deciding = null;
document.addEventListener("submit", ({ target }) => (deciding = target.closest(".slip") && target), true);
document.addEventListener("focusin", ({ target }) => (deciding = target.closest(".slip") ? deciding : null));

function keepFocus(there, made) {
  const inside = there.contains(document.activeElement) || (deciding && there.contains(deciding));
  if (inside) made.querySelector("h2")?.setAttribute("autofocus", "");
}

// What is as it was stays untouched; where someone is writing in a card that is still the same, the card is morphed.
function renewed(task, made, there) {
  if (there.innerHTML === made.innerHTML && there.className === made.className && there.hidden === made.hidden) {
    if (made.dataset.seq) there.dataset.seq = made.dataset.seq;
    return [];
  }
  if (there instanceof HTMLDetailsElement) made.open = there.open;
  const writing = there.contains(document.activeElement) && there.dataset.state === made.dataset.state;
  if (!writing) keepFocus(there, made);
  return [swap(task, made, there, writing ? "outerMorph" : "outerHTML")];
}

function swap(task, made, target, style) {
  const fragment = document.createDocumentFragment();
  fragment.append(made);
  return { ...task, fragment, target, swapSpec: { style } };
}

// The connection: quiet while all is well, one strip above the composer when it is not.

const SIGNED_OUT = new Set([401, 403, 404, 410]);
const QUIET_MS = 2000;
const RETRY_MOST_MS = 8000;
let connection = null;
let failures = 0;
let timer = 0;

const stream = () => document.getElementById("stream");
const show = (id, on) => document.getElementById(id)?.toggleAttribute("hidden", !on);

function lost(status) {
  if (SIGNED_OUT.has(status)) {
    if (connection) connection.config.reconnect = false;
    clearTimeout(timer);
    show("connection-lost", false);
    show("signed-out", true);
    return false;
  }
  clearTimeout(timer);
  timer = setTimeout(() => show("connection-lost", true), navigator.onLine ? QUIET_MS : 0);
  return true;
}

function found() {
  failures = 0;
  clearTimeout(timer);
  show("connection-lost", false);
}

document.addEventListener("htmx:sse:before:connection", ({ detail }) => {
  connection = detail.connection;
  connection.config.reconnectMaxDelay = RETRY_MOST_MS;
  if (connection.attempt > 0 && !document.hidden) lost();
});
document.addEventListener("htmx:sse:after:connection", found);
document.addEventListener("htmx:sse:error", ({ detail }) => lost(detail.status));

// The very first request is not a stream yet, so hx-sse does not repeat it: that is done here.
for (const name of ["htmx:response:error", "htmx:error"]) {
  document.addEventListener(name, ({ detail }) => {
    const element = stream();
    if (!element || detail.ctx?.sourceElement !== element || !lost(detail.ctx.response?.status)) return;
    failures += 1;
    setTimeout(() => element.dispatchEvent(new Event("stream:retry")), Math.min(500 * 2 ** failures, 30000));
  });
}

// A step that may not have reached the server is said so; one that did shows that the connection can be had again.
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  if (ctx?.sourceElement?.matches("form, button")) show("not-taken", true);
});
document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
  if (!ctx.response || ctx.sourceElement === stream()) return;
  show("not-taken", false);
  if (document.getElementById("connection-lost")?.hidden === false) reconnect();
});

function reconnect() {
  if (connection?.delayCanceller) connection.delayCanceller();
  else if (connection?.reader) connection.reader.cancel();
  else stream()?.dispatchEvent(new Event("stream:retry"));
}

// After a change of network the old connection may look alive and be none: a new one asks for what was missed.
addEventListener("offline", () => stream() && lost());
addEventListener("online", () => stream() && reconnect());
document.addEventListener("click", ({ target }) => target.closest("[data-reconnect]") && reconnect());
