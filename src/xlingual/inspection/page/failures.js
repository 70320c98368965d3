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
  row.words = folded([row.query.id, row.query.text, ...row.near.map((text) => text.text)].join("\n"));
});
for (const words of new Set(rows.flatMap((row) => row.slices))) byId("slice").append(new Option(words, words));

function element(name, kind, ...inside) {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  node.append(...inside.filter((child) => child !== null && child !== ""));
  return node;
}

function thumb(text) {
  if (text.image === null) return element("span", "thumb", element("span", "none"));
  const image = element("img");
  image.src = images[text.image];
  image.alt = "";
  image.loading = "lazy";
  return element("span", "thumb", image);
}

function written(text) {
  const node = element("span", "text", text.text);
  node.lang = text.lang;
  node.dir = text.dir;
  return node;
}

const tag = (language) => element("span", "tag", languages[language] ?? language);
const number = (value) => (value === null ? "–" : value.toFixed(3).replace("-", "−"));
const cell = (text, language) => element("span", "cell q", thumb(text), element("span", "words", tag(language), written(text)));
const numeric = (label, text) => element("span", "cell num", element("span", "label", `${label} `), text);

function line(row) {
  const node = element("details", "");
  const first = row.near[0];
  const nothing = element("span", "cell q", element("span", "words", tag(row.target), element("span", "hint", "not kept, or several tie")));
  node.append(element("summary", "line", cell(row.query, row.query.lang), first ? cell(first, first.lang) : nothing,
    numeric("rank", row.rank === null ? "–" : row.rank.toLocaleString("en")), numeric("score", number(row.score)),
    element("span", "cell", element("span", "chip bad", kinds[row.kind]))));
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(further(row)); });
  return node;
}

function further(row) {
  const list = element("ol", "");
  for (const text of row.near) {
    const about = element("span", "about", text.right ? element("span", "chip good", "own item") : "",
      text.hub ? element("span", "chip hub", `hub · ${text.hub}`) : "", element("span", "hint", number(text.score)));
    list.append(element("li", text.right ? "near right" : "near", element("span", "q grow", thumb(text), written(text)), about));
  }
  const node = element("div", "further", element("p", "hint", "nearest of the candidates that were evaluated"), list);
  if (row.answer) node.prepend(element("div", "answer", element("span", "tag", "The right answer"), written(row.answer)));
  for (const words of row.slices) node.append(element("p", "hint", `slice that fails: ${words}`));
  return node;
}

const keys = {
  query: (row) => row.query.text, found: (row) => row.near[0]?.text ?? "", rank: (row) => row.rank ?? -1,
  score: (row) => row.score ?? -2, kind: (row) => row.kind,
};

function chosen() {
  const words = folded(byId("words").value).split(/\s+/).filter(Boolean);
  const [source, target, kind, slice] = ["source", "target", "kind", "slice"].map((id) => byId(id).value);
  const matching = rows.filter((row) =>
    (!source || row.query.lang === source) && (!target || row.target === target) && (!kind || row.kind === kind) &&
    (!slice || row.slices.includes(slice)) && words.every((word) => row.words.includes(word)));
  const key = keys[state.sort];
  if (!key) return matching;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return matching.sort((a, b) => (state.down ? -1 : 1) * compare(key(a), key(b)) || a.place - b.place);
}

function show() {
  const matching = chosen();
  byId("count").textContent = `${matching.length.toLocaleString("en")} ${matching.length === 1 ? "query" : "queries"}`;
  byId("lines").replaceChildren(...matching.slice(0, state.shown).map(line));
  byId("more").hidden = matching.length <= state.shown;
  document.querySelectorAll("[data-sort]").forEach((button) => {
    if (button.dataset.sort === state.sort) button.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else button.removeAttribute("aria-sort");
  });
}

document.querySelector(".filters").addEventListener("input", () => { state.shown = STEP; show(); });
byId("more").addEventListener("click", () => { state.shown += STEP; show(); });
document.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => {
  const first = ["rank", "score"].includes(button.dataset.sort);
  state.down = state.sort === button.dataset.sort ? !state.down : first;
  state.sort = button.dataset.sort;
  show();
}));
show();
