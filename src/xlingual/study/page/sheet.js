"use strict";
// One rater's pages without a server. The browser keeps the answers; they leave it in a file.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const by = (id) => document.getElementById(id);
  const texts = new Map();
  for (const query of study.queries) for (const text of [query.shown, ...query.suggestions]) texts.set(text.id, text);
  const place = (page, suggestion) => [page.query, suggestion, page.occasion].join(" ");
  const places = new Set(study.pages.flatMap((page) => page.suggestions.map((id) => place(page, id))));
  const answers = new Map(); // place → {rater, query, suggestion, occasion, score, at, seconds}
  const past = []; // [place, answer before], for undo
  const storage = `xlingual study ${study.id} rater ${study.rater}`;
  let number = -1, current = 0, last = Date.now(), unsaved = false, stored = true;

  const element = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const written = (name, text) => element(name, { lang: text.language, dir: study.directions[text.language], textContent: text.text });
  const heading = (text) => Object.assign(written("h1", text), { className: text.text.length > 100 ? "long" : "" });
  const image = (text, alt) => (text.image ? [element("img", { src: study.images[text.image], alt })] : []);
  const open = (page) => page.suggestions.some((id) => !answers.has(place(page, id)));
  const firstOpen = () => study.pages.findIndex(open);

  function showStatus() {
    const page = study.pages[number];
    by("where").textContent = page ? `Query ${number + 1} of ${study.pages.length}` : `${study.pages.length} queries`;
    by("progress").max = places.size;
    by("progress").value = answers.size;
    by("undo").disabled = past.length === 0;
    by("saved").textContent = !stored ? "This browser keeps no answers: save them to a file before you close this page"
      : unsaved ? "This browser keeps your answers. The last ones are not in a file yet" : "";
  }

  function show(to) {
    number = Math.max(-1, Math.min(to, study.pages.length));
    by("start").hidden = number !== -1;
    by("end").hidden = number !== study.pages.length;
    by("page").hidden = !study.pages[number];
    const missing = places.size - answers.size;
    by("missing").textContent = missing ? `${missing} suggestions have no answer yet.` : "All suggestions have an answer.";
    by("begin").textContent = answers.size ? "Go on" : "Begin";
    if (study.pages[number]) draw(study.pages[number]);
    showStatus();
    window.scrollTo(0, 0);
  }

  function draw(page) {
    const query = texts.get(page.query);
    by("query").replaceChildren(
      ...image(query, "Image of the query"),
      element("div", { className: "said" }, element("p", { className: "kicker", textContent: "How relevant is each suggestion to this?" }), heading(query)),
    );
    by("suggestions").replaceChildren(...page.suggestions.map((id, index) => item(page, id, index)));
    by("before").disabled = number === 0;
    last = Date.now();
    focus(Math.max(0, page.suggestions.findIndex((id) => !answers.has(place(page, id)))), false);
  }

  function item(page, id, index) {
    const text = texts.get(id), answer = answers.get(place(page, id));
    const choices = study.labels.map((label, i) => {
      const input = element("input", { type: "radio", name: id, value: String(i + 1), checked: answer?.score === i + 1 });
      input.addEventListener("change", () => rate(index, i + 1));
      return element("label", {}, input, element("span", {}, element("kbd", { textContent: String(i + 1) }), label));
    });
    const legend = element("legend", { className: "hidden", textContent: `Suggestion ${index + 1} of ${page.suggestions.length}: ${text.text}` });
    const field = element("fieldset", { tabIndex: -1 }, legend,
      element("div", { className: "shown", dir: study.directions[text.language] }, ...image(text, `Image of suggestion ${index + 1}`), written("p", text)),
      element("div", { className: "choices" }, ...choices));
    field.addEventListener("focusin", () => mark(index));
    return element("li", {}, field);
  }

  function mark(index) {
    current = index;
    document.querySelectorAll("fieldset").forEach((field, i) => field.classList.toggle("current", i === index));
  }

  function focus(index, scroll = true) {
    const fields = document.querySelectorAll("fieldset");
    if (!fields.length) return;
    mark(Math.max(0, Math.min(index, fields.length - 1)));
    const field = fields[current], chosen = field.querySelector("input:checked");
    (chosen ?? field).focus({ preventScroll: true }); // the card and not its first choice, which would suggest that one
    const block = field.offsetHeight > innerHeight / 2 ? "start" : "center"; // a long text from its first line on
    // the bar stays at the top, and how high it is depends on fonts and on the length of the query
    const bar = document.querySelector("header").offsetHeight;
    document.documentElement.style.scrollPaddingTop = `${bar + 16}px`;
    if (scroll) field.scrollIntoView({ block });
  }

  function changed() {
    unsaved = true;
    try { localStorage.setItem(storage, JSON.stringify([...answers.values()])); } catch { stored = false; }
    showStatus();
  }

  function rate(index, score) {
    const page = study.pages[number], suggestion = page.suggestions[index], where = place(page, suggestion);
    const before = answers.get(where), now = Date.now();
    if (before?.score === score) return;
    past.push([where, before]);
    answers.set(where, {
      rater: study.rater, query: page.query, suggestion, occasion: page.occasion, score,
      at: new Date(now).toISOString(), seconds: (now - last) / 1000,
    });
    last = now;
    changed();
  }

  function undo() {
    if (!past.length) return;
    const [where, before] = past.pop();
    if (before) answers.set(where, before); else answers.delete(where);
    const [query, suggestion, occasion] = where.split(" ");
    show(study.pages.findIndex((page) => page.query === query && String(page.occasion) === occasion));
    focus(study.pages[number].suggestions.indexOf(suggestion));
    changed();
  }

  function save() {
    const content = { schema: study.schema, study: study.id, ratings: [...answers.values()] };
    const link = element("a", {
      href: URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" })),
      download: `answers-${study.rater}.json`,
    });
    link.click();
    URL.revokeObjectURL(link.href);
    unsaved = false;
    showStatus();
    by("saved").textContent = `Saved ${answers.size} answers as ${link.download}`;
  }

  function take(ratings) { // of two answers the later one counts
    let count = 0;
    for (const rating of ratings) {
      const where = place(rating, rating.suggestion);
      if (rating.rater !== study.rater || !places.has(where) || !study.labels[rating.score - 1]) continue;
      count += 1;
      if (!answers.has(where) || Date.parse(rating.at) > Date.parse(answers.get(where).at)) answers.set(where, rating);
    }
    return count;
  }

  async function load(file) {
    const refuse = (why) => { by("saved").textContent = `This file was not loaded: ${why}`; };
    let content, count = 0;
    try { content = JSON.parse(await file.text()); } catch { return refuse("it holds no answers"); }
    if (content?.schema !== study.schema || !Array.isArray(content.ratings)) return refuse("it holds no answers");
    if (content.study !== study.id) return refuse("it is of another study");
    try { count = take(content.ratings); } catch { /* a rating that is none */ }
    if (!count) return refuse("it has no answers of this rater");
    past.length = 0;
    changed();
    const page = firstOpen();
    show(page < 0 ? study.pages.length : page);
    by("saved").textContent = `Loaded ${count} answers`;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = study.pages[number];
    if (event.key === "u") return undo();
    if (!page) return;
    if (/^[1-9]$/.test(event.key) && Number(event.key) <= study.labels.length) {
      event.preventDefault();
      if (event.repeat) return; // a key held down is one answer
      const score = Number(event.key);
      document.querySelectorAll("fieldset")[current].querySelectorAll("input")[score - 1].checked = true;
      rate(current, score);
      if (current + 1 < page.suggestions.length) focus(current + 1); else by("next").focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      focus(current + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      show(number + (event.key === "ArrowRight" ? 1 : -1));
    }
  });
  const goOn = () => show(Math.max(0, firstOpen()));
  by("begin").addEventListener("click", goOn);
  by("back").addEventListener("click", goOn);
  by("before").addEventListener("click", () => show(number - 1));
  by("next").addEventListener("click", () => show(number + 1));
  by("undo").addEventListener("click", undo);
  by("save").addEventListener("click", save);
  by("save-end").addEventListener("click", save);
  by("file").addEventListener("change", (event) => { if (event.target.files[0]) load(event.target.files[0]); event.target.value = ""; });
  window.addEventListener("beforeunload", (event) => { if (unsaved && !stored) event.preventDefault(); });
  try { if (take(JSON.parse(localStorage.getItem(storage) ?? "[]"))) unsaved = true; } catch { stored = false; }
  show(-1);
})();
