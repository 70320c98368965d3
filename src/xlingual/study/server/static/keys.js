// The rating page: keys, where the focus goes, and the message about answers that are not saved yet.
// The page works without this file: then a form is sent with all its answers.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("answers");
  const cards = [...form.querySelectorAll(".suggestion")];
  const status = document.getElementById("status");
  const onward = document.getElementById("onward");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const waiting = new Map(); // cards whose answer the server has not confirmed → attempts that failed
  let undoing = false;

  const chosen = (card) => card.querySelector("input:checked");
  const isOpen = (card) => !chosen(card);
  const confirmed = new Map(cards.map((card) => [card, card.querySelector("input[checked]")?.value])); // what the server has
  const current = () => document.activeElement?.closest?.(".suggestion") ?? null;
  let last = null; // the card that had the focus last: a click beside it takes the focus away, not the place
  form.addEventListener("focusin", () => { last = current(); });

  function goTo(card) {
    const goal = card ?? onward;
    goal.focus({ preventScroll: true }); // the card and not its first choice, which would suggest that one
    const block = goal.offsetHeight > innerHeight / 2 ? "start" : "center"; // a long text from its first line on
    goal.scrollIntoView({ block, behavior: calm ? "auto" : "smooth" });
  }

  function moveOn(card) {
    const place = cards.indexOf(card);
    goTo([...cards.slice(place + 1), ...cards.slice(0, place)].find(isOpen) ?? null);
  }

  function step(by) {
    const place = cards.indexOf(current() ?? last);
    if (place < 0) return goTo(cards.find(isOpen) ?? cards[0]);
    const next = cards[place + by];
    if (next || by > 0) goTo(next ?? null);
  }

  function rate(score) {
    const card = current() ?? last ?? cards.find(isOpen);
    const choice = card?.querySelector(`input[value="${score}"]`);
    if (!choice) return;
    if (!choice.checked) choice.click();
    moveOn(card);
  }

  function undo() {
    undoing = waiting.size > 0; // first let answers on their way arrive
    if (!undoing) document.querySelector("#undo button")?.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1), u: undo, U: undo };
    const onCard = event.target.matches?.(".suggestion, input");
    if (/^[1-9]$/.test(event.key)) {
      if (!event.repeat) rate(event.key); // a key held down is one answer, not one for each suggestion below
    }
    else if (event.key === "Enter" && onCard && cards.some(isOpen)) goTo(cards.find(isOpen));
    else if (event.key === "Enter" && onCard) form.requestSubmit();
    else if (acts[event.key] && (!event.repeat || event.key.startsWith("Arrow"))) acts[event.key]();
    else return;
    event.preventDefault();
  });

  function say(words, kind) {
    status.textContent = words;
    status.dataset.kind = kind;
  }

  function showStatus() {
    document.body.classList.toggle("all-given", !cards.some(isOpen));
    const failed = [...waiting.values()].some((attempts) => attempts > 0);
    if (failed) say("Not saved yet: no answer from the server. Trying again …", "bad");
    else if (waiting.size) say("Saving …", "");
    else say("All your answers are saved", "good");
  }

  document.body.addEventListener("htmx:beforeRequest", (event) => {
    const card = event.detail.elt;
    if (!waiting.has(card)) waiting.set(card, 0);
    showStatus();
  });

  document.body.addEventListener("htmx:afterRequest", (event) => {
    const { elt: card, successful, xhr } = event.detail;
    if (successful) {
      waiting.delete(card);
      if (cards.includes(card)) confirmed.set(card, event.detail.requestConfig.parameters[chosen(card)?.name]);
      showStatus();
      if (undoing && !waiting.size) undo();
      return;
    }
    const mark = card.querySelector(".saved");
    delete mark.dataset.saved;
    mark.textContent = "Not saved";
    if (xhr.status >= 400 && xhr.status < 500 && xhr.status !== 429) {
      say("Not saved: this link does not work any more. Ask whoever sent it to you.", "bad");
      return;
    }
    const attempts = waiting.get(card) + 1;
    waiting.set(card, attempts);
    setTimeout(() => htmx.trigger(card, "again"), Math.min(15000, 500 * 2 ** attempts));
    showStatus();
  });

  form.addEventListener("submit", (event) => {
    const open = cards.find(isOpen);
    if (open) {
      event.preventDefault();
      say("This one has no answer yet", "bad");
      return goTo(open);
    }
    // The form carries the answers that are not saved yet, and no more: another tab may have changed the rest since.
    const done = cards.filter((card) => !waiting.has(card) && confirmed.get(card) === chosen(card)?.value);
    form.addEventListener("formdata", ({ formData }) => done.forEach((card) => formData.delete(chosen(card).name)), { once: true });
    waiting.clear();
  });

  addEventListener("beforeunload", (event) => {
    if ([...waiting.values()].some((attempts) => attempts > 0)) event.preventDefault();
  });

  document.body.classList.toggle("all-given", !cards.some(isOpen));
  const asked = cards.find((card) => `#${card.id}` === location.hash);
  if (asked) history.replaceState(null, "", location.pathname); // else the browser takes the focus away again
  const first = asked ?? cards.find(isOpen);
  if (first && (asked || first !== cards[0])) goTo(first);
  else if (first && matchMedia("(hover: hover)").matches) first.focus({ preventScroll: true });
});
