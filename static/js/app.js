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
// change may come twice, or out of order after a lost connection, and the page is the same.

document.addEventListener("htmx:before:swap", ({ detail: { tasks } }) => {
  tasks.splice(0, tasks.length, ...tasks.flatMap((task) => (task.swapSpec?.style === "place" ? placed(task) : [task])));
});

function placed(task) {
  return [...task.fragment.children].flatMap((made) => {
    const there = made.id ? document.getElementById(made.id) : null;
    if (there && "shell" in made.dataset) {
      const inner = document.createDocumentFragment();
      inner.append(...made.querySelector(".items").children);
      return placed({ ...task, fragment: inner, target: there.querySelector(".items") });
    }
    if (there && task.target?.contains(there)) {
      const same = there.dataset.state === made.dataset.state;
      return [swap(task, made, there, same ? "outerMorph" : "outerHTML")];
    }
    if (!task.target || "only" in task.target.dataset) return there ? [swap(task, made, there, "outerHTML")] : [];
    there?.remove();
    const after = [...task.target.children].find((child) => Number(child.dataset.order) > Number(made.dataset.order));
    return [after ? swap(task, made, after, "beforebegin") : swap(task, made, task.target, "beforeend")];
  });
}

function swap(task, made, target, style) {
  const fragment = document.createDocumentFragment();
  fragment.append(made);
  return { ...task, fragment, target, swapSpec: { style } };
}

// The connection: quiet while all is well, one strip above the composer when it is not.

const SIGNED_OUT = new Set([401, 403, 404, 410]);
const QUIET_MS = 2000;
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

addEventListener("offline", () => stream() && lost());
document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-reconnect]")) return;
  if (connection?.delayCanceller) connection.delayCanceller();
  else stream()?.dispatchEvent(new Event("stream:retry"));
});
