"use strict";
// One rater's pages without a server. Answers live in memory until they are saved to a file.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const by = (id) => document.getElementById(id);
  const texts = new Map();
  for (const query of study.queries) for (const one of [query.shown, ...query.suggestions]) texts.set(one.id, one);
  const total = study.pages.reduce((sum, page) => sum + page.suggestions.length, 0);
  const answers = new Map(); // place → {query, suggestion, occasion, score, at, seconds}
  const past = []; // [place, answer before], for undo
  let number = -1, current = 0, last = Date.now(), unsaved = false;

  const place = (page, suggestion) => [page.query, suggestion, page.occasion].join(" ");
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const text = (name, shown) => element(name, { lang: shown.language, dir: study.directions[shown.language], textContent: shown.text });
  const heading = (shown) => Object.assign(text("h1", shown), { className: shown.text.length > 100 ? "long" : "" });
  const image = (shown, alt) => (shown.image ? [element("img", { src: study.images[shown.image], alt })] : []);
  const left = (page) => page.suggestions.filter((id) => !answers.has(place(page, id))).length;

  function showStatus() {
    const page = study.pages[number];
    by("where").textContent = page ? `Query ${number + 1} of ${study.pages.length}` : `${study.pages.length} queries`;
    by("progress").max = total;
    by("progress").value = answers.size;
    by("undo").disabled = past.length === 0;
    by("saved").textContent = unsaved ? "Your last answers are not in a file yet" : "";
  }

  function show(to) {
    number = Math.max(-1, Math.min(to, study.pages.length));
    by("start").hidden = number !== -1;
    by("end").hidden = number !== study.pages.length;
    by("page").hidden = !study.pages[number];
    const missing = total - answers.size;
    by("missing").textContent = missing ? `${missing} suggestions have no answer yet.` : "All suggestions have an answer.";
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
    const open = page.suggestions.findIndex((id) => !answers.has(place(page, id)));
    focus(open < 0 ? 0 : open, false);
  }

  function item(page, id, index) {
    const shown = texts.get(id), given = answers.get(place(page, id));
    const choices = study.labels.map((label, i) => {
      const input = element("input", { type: "radio", name: id, value: String(i + 1), checked: given?.score === i + 1 });
      input.addEventListener("change", () => rate(index, i + 1));
      return element("label", {}, input, element("span", {}, element("kbd", { textContent: String(i + 1) }), label));
    });
    const legend = element("legend", { className: "hidden", textContent: `Suggestion ${index + 1} of ${page.suggestions.length}: ${shown.text}` });
    const field = element("fieldset", { tabIndex: -1 }, legend,
      element("div", { className: "shown", dir: study.directions[shown.language] }, ...image(shown, `Image of suggestion ${index + 1}`), text("p", shown)),
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

  function rate(index, score) {
    const page = study.pages[number], suggestion = page.suggestions[index], key = place(page, suggestion);
    const before = answers.get(key), now = Date.now();
    if (before?.score === score) return;
    past.push([key, before]);
    answers.set(key, { query: page.query, suggestion, occasion: page.occasion, score, at: new Date(now).toISOString(), seconds: (now - last) / 1000 });
    last = now;
    unsaved = true;
    showStatus();
  }

  function undo() {
    if (!past.length) return;
    const [key, before] = past.pop();
    if (before) answers.set(key, before); else answers.delete(key);
    unsaved = true;
    const [query, suggestion, occasion] = key.split(" ");
    show(study.pages.findIndex((page) => page.query === query && String(page.occasion) === occasion));
    focus(study.pages[number].suggestions.indexOf(suggestion));
  }

  function save() {
    const content = { schema: study.schema, study: study.id, rater: study.rater, ratings: [...answers.values()] };
    const link = element("a", {
      href: URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" })),
      download: study.file,
    });
    link.click();
    URL.revokeObjectURL(link.href);
    unsaved = false;
    showStatus();
    by("saved").textContent = `Saved ${answers.size} answers as ${link.download}`;
  }

  function refuse(why) { by("saved").textContent = `This file was not loaded: ${why}`; }

  async function load(file) {
    let content;
    try { content = JSON.parse(await file.text()); } catch { return refuse("it holds no answers"); }
    if (content?.schema !== study.schema || !Array.isArray(content.ratings)) return refuse("it holds no answers");
    if (content.study !== study.id) return refuse("it is of another study");
    if (content.rater !== study.rater) return refuse("it is another rater's");
    const known = new Set(study.pages.flatMap((page) => page.suggestions.map((id) => place(page, id))));
    let count = 0;
    for (const one of content.ratings) {
      const key = place(one, one.suggestion);
      if (!known.has(key) || ![1, 2, 3, 4].includes(one.score)) continue;
      answers.set(key, one);
      count += 1;
    }
    past.length = 0;
    const open = study.pages.findIndex((page) => left(page));
    show(open < 0 ? study.pages.length : open);
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
  by("begin").addEventListener("click", () => show(Math.max(0, study.pages.findIndex((page) => left(page)))));
  by("before").addEventListener("click", () => show(number - 1));
  by("next").addEventListener("click", () => show(number + 1));
  by("back").addEventListener("click", () => show(Math.max(0, study.pages.findIndex((page) => left(page)))));
  by("undo").addEventListener("click", undo);
  by("save").addEventListener("click", save);
  by("save-end").addEventListener("click", save);
  by("file").addEventListener("change", (event) => { if (event.target.files[0]) load(event.target.files[0]); event.target.value = ""; });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  show(-1);
})();
