// Keys, selects that submit their form, marks that could not be saved, and the map.
"use strict";
document.documentElement.classList.add("scripted");

document.addEventListener("DOMContentLoaded", () => {
  const help = document.getElementById("help");
  const show = () => help.open || help.showModal();
  document.getElementById("help-button")?.addEventListener("click", show);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (typing || help.open) return;
    const follow = (key) => document.querySelector(`[data-key="${key}"]`);
    const focus = (id) => document.getElementById(id);
    const acts = {
      j: () => follow("j")?.click(), ArrowRight: () => follow("j")?.click(),
      k: () => follow("k")?.click(), ArrowLeft: () => follow("k")?.click(),
      u: () => follow("u")?.click(), m: () => focus("marked")?.click(),
      n: () => focus("note")?.focus(), "/": () => focus("find")?.focus(), "?": show,
    };
    if (!Object.hasOwn(acts, event.key) || event.repeat) return;
    event.preventDefault();
    acts[event.key]();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
  });

  document.body.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.elt.closest(".mark");
    if (!form || event.detail.successful) return;
    const said = form.querySelector(".saved");
    said.textContent = "Not saved: the server does not answer, or the file of marks cannot be written.";
    said.classList.add("bad");
  });

  if (matchMedia("(max-width: 760px)").matches) document.querySelector(".fold")?.removeAttribute("open");
  const area = document.getElementById("map");
  if (area) draw(area);
});

// Colours that stay apart for colour-blind readers (after Okabe and Ito); shapes repeat what colours say.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#8a919c"];

function dot(pen, x, y, size, shape) {
  pen.beginPath();
  if (shape === 0) pen.arc(x, y, size, 0, 7);
  else if (shape === 1) pen.rect(x - size, y - size, 2 * size, 2 * size);
  else if (shape === 2) { pen.moveTo(x, y - 1.3 * size); pen.lineTo(x + 1.2 * size, y + size); pen.lineTo(x - 1.2 * size, y + size); pen.closePath(); }
  else { pen.moveTo(x, y - 1.4 * size); pen.lineTo(x + 1.4 * size, y); pen.lineTo(x, y + 1.4 * size); pen.lineTo(x - 1.4 * size, y); pen.closePath(); }
  pen.fill();
}

async function draw(area) {
  const note = document.getElementById("map-note"), tip = area.querySelector(".tip");
  let map;
  try {
    map = await (await fetch(area.dataset.points)).json();
  } catch {
    note.textContent = "The map could not be loaded: is the server still running?";
    return;
  }
  if (map.why) { note.textContent = map.why; return; }
  const canvas = area.querySelector("canvas"), pen = canvas.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)"), rest = map.labels[0] === "other texts";
  const colour = (code) => (rest ? (code ? "#d55e00" : dark.matches ? "#566072" : "#b9bfc9") : COLOURS[code]);
  const shape = (code) => (rest ? 3 * code : code % 4);
  const all = [...map.points, ...map.way.map((one) => [one.x, one.y])];
  const reach = [0, 1].map((axis) => Math.max(1e-6, ...all.map((one) => Math.abs(one[axis]))));
  let places = [];

  function place(x, y) {
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight], margin = 22;
    const scale = Math.min((wide / 2 - margin) / reach[0], (high / 2 - margin) / reach[1]);
    return [wide / 2 + x * scale, high / 2 - y * scale];
  }

  function paint() {
    const scale = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.globalAlpha = 0.72;
    const order = [...map.points.keys()].sort((a, b) => (rest ? map.points[a][2] - map.points[b][2] : 0));
    places = map.points.map(([x, y]) => place(x, y));
    for (const i of order) {
      const code = map.points[i][2];
      pen.fillStyle = colour(code);
      dot(pen, ...places[i], rest && code ? 4.5 : 2.8, shape(code));
    }
    pen.globalAlpha = 1;
    const ink = getComputedStyle(document.body).color, way = map.way.map((one) => place(one.x, one.y));
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = 2;
    way.slice(1).forEach(([x, y], i) => {
      pen.setLineDash(i ? [6, 5] : []);
      pen.beginPath(); pen.moveTo(...way[i]); pen.lineTo(x, y); pen.stroke();
    });
    pen.setLineDash([]);
    way.forEach(([x, y], i) => { dot(pen, x, y, 6, i ? i : 0); });
  }

  const legend = document.getElementById("legend");
  map.labels.forEach((label, code) => {
    const one = document.createElement("li"), mark = document.createElement("canvas");
    mark.width = mark.height = 28;
    const own = mark.getContext("2d");
    own.fillStyle = colour(code);
    dot(own, 14, 14, 8, shape(code));
    one.append(mark, label);
    legend.append(one);
  });
  const share = map.share === null ? "" : ` Both axes show ${Math.round(100 * map.share)} % of the variance.`;
  const way = ["the query", "its nearest text", "the nearest to that on the way back"].slice(0, map.way.length);
  note.textContent = `${map.points.length.toLocaleString("en")} of ${map.of.toLocaleString("en")} texts.${share} Click a point to look at its text.` +
    (way.length ? ` Lines: ${map.way.map((one, i) => `${way[i]} (${one.text})`).join(" → ")}.` : "");

  function nearest(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 144;
    places.forEach(([a, b], i) => {
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return [best, x, y];
  }
  canvas.addEventListener("pointermove", (event) => {
    const [at, x, y] = nearest(event);
    tip.hidden = at < 0;
    if (at < 0) return;
    tip.textContent = map.texts[at];
    tip.lang = map.languages[at];
    tip.dir = "auto";
    tip.style.left = `${Math.min(x + 12, Math.max(0, canvas.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.min(y + 12, canvas.clientHeight - tip.offsetHeight - 8)}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => {
    const [at] = nearest(event);
    if (at >= 0) location.href = area.dataset.text + map.points[at][3] + area.dataset.more;
  });
  new ResizeObserver(paint).observe(canvas);
  dark.addEventListener("change", paint);
}
