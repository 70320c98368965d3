"use strict";
(() => {
  const form = document.querySelector(".filters");
  const table = document.querySelector("table.leaders");
  if (!form || !table) return;
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const folds = [...document.querySelectorAll(".by-column > details")];
  const numberOf = (row, place) => {
    const found = row.cells[place].dataset.value;
    return found === undefined ? null : Number(found);
  };

  const fits = (head) => [...form.querySelectorAll("select")].every((one) => {
    const own = head.dataset[one.dataset.mark] || "";
    return !one.value || (one.dataset.mark === "languages" ? own.split(" ").includes(one.value) : own === one.value);
  });

  const choose = () => {
    const wanted = form.querySelector("[data-name]").value.trim().toLowerCase();
    const complete = form.querySelector("[data-complete]").checked;
    const shown = heads.map((head, place) => place > 0 && !head.dataset.mean && fits(head));
    const places = shown.flatMap((one, place) => (one ? [place] : []));
    const hasAll = (row, columns) => columns.length > 0 && columns.every((place) => numberOf(row, place) !== null);
    const ofMeasure = (head) => places.filter((place) => heads[place].dataset.measure === head.dataset.mean);
    heads.forEach((head, place) => {
      const hidden = head.dataset.mean ? ofMeasure(head).length < 2 : place > 0 && !shown[place];
      head.hidden = hidden;
      rows.forEach((row) => { row.cells[place].hidden = hidden; });
    });
    let left = 0;
    rows.forEach((row) => {
      const some = places.some((place) => numberOf(row, place) !== null);
      row.hidden = !some || (complete && !hasAll(row, places)) || !row.cells[0].textContent.toLowerCase().includes(wanted);
      left += row.hidden ? 0 : 1;
      heads.forEach((head, mean) => {
        if (!head.dataset.mean) return;
        const [cell, columns] = [row.cells[mean], ofMeasure(head)];
        if (hasAll(row, columns)) {
          const value = columns.reduce((sum, place) => sum + numberOf(row, place), 0) / columns.length;
          cell.dataset.value = String(value);
          cell.textContent = value.toFixed(3);
        } else {
          delete cell.dataset.value;
          cell.textContent = "–";
        }
      });
    });
    const names = new Set(places.map((place) => heads[place].dataset.head));
    folds.forEach((fold) => { fold.hidden = !names.has(fold.querySelector(".title").textContent.trim()); });
    form.querySelector("output").textContent = `${left} of ${rows.length} rows, ${places.length} of ${folds.length} columns`;
  };

  const sort = (place) => {
    const head = heads[place];
    const first = place === 0 || head.dataset.lower ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const by = (one, another) => {
      if (place === 0) return sign * one.cells[0].textContent.localeCompare(another.cells[0].textContent);
      const [a, b] = [numberOf(one, place), numberOf(another, place)];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (a - b);
    };
    body.append(...rows.sort(by));
  };

  heads.forEach((head, place) => {
    head.dataset.head = head.textContent.trim();
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(place));
    head.append(button);
  });
  form.addEventListener("input", choose);
  form.addEventListener("reset", () => setTimeout(choose));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  choose();
})();
