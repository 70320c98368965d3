// Sorts, filters and searches the queries that stand in the page. Texts are set as text, never as HTML.
"use strict";
const { rows, images, kinds, languages } = JSON.parse(document.getElementById("content").textContent);
const STEP = 100;
const byId = (id) => document.getElementById(id);
const folded = (text) => text.normalize("NFKC").toLowerCase();
const state = { sort: "", down: false, shown: STEP };

rows.forEach((row, place) => {
  row.place = place;
  row.score = row.near[0]?.score ?? null;
  row.words = folded([row.query.id, row.query.text, row.note, ...row.near.map((one) => one.text)].join("\n"));
});
for (const words of new Set(rows.flatMap((row) => row.slices))) byId("slice").append(new Option(words, words));

function element(name, kind, ...inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside.filter((one) => one !== null && one !== ""));
  return made;
}

function thumb(one) {
  const made = element("span", "thumb");
  if (one.image !== null) {
    const image = element("img");
    image.src = images[one.image];
    image.alt = "";
    image.loading = "lazy";
    made.append(image);
  } else made.append(element("span", "none"));
  return made;
}

function said(one) {
  const made = element("span", "text", one.text);
  made.lang = one.lang;
  made.dir = one.dir;
  return made;
}

const named = (tag) => element("span", "tag", languages[tag] ?? tag);
const number = (value) => (value === null ? "–" : value.toFixed(3).replace("-", "−"));
const cell = (one, tag) => element("span", "cell q", thumb(one), element("span", "words", named(tag), said(one)));
const numeric = (label, text) => element("span", "cell num", element("span", "label", `${label} `), text);

function line(row) {
  const made = element("details", "");
  const first = row.near[0];
  const nothing = element("span", "cell q", element("span", "words", named(row.target), element("span", "hint", "not kept, or several tie")));
  const what = element("span", "cell", element("span", row.kind ? "chip bad" : "chip good", row.kind ? kinds[row.kind] : "answered"),
    row.marked ? element("span", "star", " ★") : "", row.note ? element("span", "note", ` ${row.note}`) : "");
  made.append(element("summary", "line", cell(row.query, row.query.lang), first ? cell(first, row.target) : nothing,
    numeric("rank", row.rank === null ? "–" : row.rank.toLocaleString("en")), numeric("score", number(row.score)), what));
  made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(further(row)); });
  return made;
}

function further(row) {
  const list = element("ol", "");
  for (const one of row.near) {
    const about = element("span", "about", one.right ? element("span", "chip good", "own item") : "",
      one.hub ? element("span", "chip hub", `hub · ${one.hub}`) : "", element("span", "score", number(one.score)));
    const words = element("span", "q grow", thumb(one), said(one));
    list.append(element("li", one.right ? "near right" : "near", words, about));
  }
  const made = element("div", "further", element("p", "among", "nearest of the candidates that were evaluated"), list);
  if (row.answer) made.prepend(element("div", "answer", element("span", "tag", "The right answer"), said(row.answer)));
  for (const words of row.slices) made.append(element("p", "among", `slice that fails: ${words}`));
  return made;
}

const keys = {
  query: (row) => row.query.text, found: (row) => row.near[0]?.text ?? "", rank: (row) => row.rank ?? -1,
  score: (row) => row.score ?? -2, kind: (row) => row.kind ?? "",
};

function chosen() {
  const words = folded(byId("words").value).split(/\s+/).filter(Boolean);
  const [source, target, kind, slice] = ["source", "target", "kind", "slice"].map((id) => byId(id).value);
  const found = rows.filter((row) =>
    (!source || row.query.lang === source) && (!target || row.target === target) && (!kind || row.kind === kind) &&
    (!slice || row.slices.includes(slice)) && words.every((word) => row.words.includes(word)));
  const key = keys[state.sort];
  if (!key) return found;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return found.sort((a, b) => (state.down ? -1 : 1) * compare(key(a), key(b)) || a.place - b.place);
}

function show() {
  const found = chosen();
  byId("count").textContent = `${found.length.toLocaleString("en")} ${found.length === 1 ? "query" : "queries"}`;
  byId("lines").replaceChildren(...found.slice(0, state.shown).map(line));
  byId("more").hidden = found.length <= state.shown;
  document.querySelectorAll("[data-sort]").forEach((one) => {
    if (one.dataset.sort === state.sort) one.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else one.removeAttribute("aria-sort");
  });
}

document.querySelector(".filters").addEventListener("input", () => { state.shown = STEP; show(); });
byId("more").addEventListener("click", () => { state.shown += STEP; show(); });
document.querySelectorAll("[data-sort]").forEach((one) => one.addEventListener("click", () => {
  const first = ["rank", "score"].includes(one.dataset.sort);
  state.down = state.sort === one.dataset.sort ? !state.down : first;
  state.sort = one.dataset.sort;
  show();
}));
show();
