"use strict";
(() => {
  const $ = id => document.getElementById(id), grid = $("matrix");
  const filters = {package: $("f-package"), kind: $("f-kind"), verdict: $("f-verdict")};
  if (!filters.package) return;
  const bodies = grid ? [...grid.tBodies] : [], folds = bodies.map(body => body.querySelector(".fold input"));
  const alike = [...document.querySelectorAll("#alike li")], all = document.querySelectorAll("tr.case, #alike li").length;
  // A filter folds again only the issues that it unfolded itself.
  const byFilter = new Set();

  const fits = (each, kind, shows) =>
    (!filters.package.value || each.dataset.needs.split(" ").includes(filters.package.value)) &&
    (!filters.kind.value || kind === filters.kind.value) &&
    (!filters.verdict.value || shows(filters.verdict.value));
  const filter = () => {
    const narrowed = Object.values(filters).some(each => each.value);
    let shown = 0;
    bodies.forEach((body, place) => {
      const cases = [...body.querySelectorAll("tr.case")], fold = folds[place];
      let left = 0;
      for (const row of cases) {
        const fit = fits(row, body.dataset.kind, verdict => row.querySelector("td." + verdict) !== null);
        row.classList.toggle("off", !fit);
        left += fit;
      }
      body.classList.toggle("off", !left);
      // An issue's own row has the worst of all its cases, not of the filtered ones.
      body.rows[0].classList.toggle("partial", left < cases.length);
      if (narrowed && !fold.checked) {
        fold.checked = true;
        byFilter.add(fold);
      } else if (!narrowed && byFilter.delete(fold)) fold.checked = false;
      shown += left;
    });
    for (const each of alike) {
      const fit = fits(each, each.dataset.kind, verdict => each.dataset.verdict === verdict);
      each.classList.toggle("off", !fit);
      shown += fit;
    }
    $("f-count").textContent = `${shown} of ${all} cases`;
  };
  const told = () => Object.entries(filters).filter(([, each]) => each.value).map(([name, each]) => `${name}=${each.value}`).join(",");
  const arrive = () => {
    const wanted = Object.fromEntries(location.hash.slice(1).split(",").map(each => each.split("=")));
    for (const [name, each] of Object.entries(filters)) {
      each.value = wanted[name] || "";
      if (each.selectedIndex < 0) each.value = "";
    }
    filter();
  };
  for (const each of Object.values(filters)) each.addEventListener("change", () => {
    filter();
    history.replaceState(null, "", "#" + told());
  });
  for (const fold of folds) fold.addEventListener("change", () => byFilter.delete(fold));
  $("f-all").addEventListener("click", () => {
    const open = folds.some(each => !each.checked);
    for (const each of folds) each.checked = open;
    byFilter.clear();
    $("f-all").textContent = open ? "Fold all" : "Unfold all";
  });
  addEventListener("hashchange", arrive);
  arrive();
  if (!grid) return;

  // One Tab stop for thousands of cells; arrow keys move within.
  [...grid.querySelectorAll("td a")].forEach((each, place) => { each.tabIndex = place ? -1 : 0; });
  const beside = (td, key) => {
    let next = td;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      do next = key === "ArrowLeft" ? next.previousElementSibling : next.nextElementSibling; while (next && next.tagName === "TD" && !next.firstElementChild);
      return next?.tagName === "TD" ? next : null;
    }
    const rows = [...grid.rows].filter(row => row.parentNode.tagName === "TBODY" && row.offsetParent && !row.matches(".partial"));
    const row = rows[rows.indexOf(td.parentNode) + (key === "ArrowDown" ? 1 : -1)];
    return row && [...row.cells].find(each => each.tagName === "TD" && each.firstElementChild && each.offsetLeft + each.offsetWidth > td.offsetLeft);
  };
  grid.addEventListener("keydown", event => {
    const td = event.target.closest("td");
    if (!td || !/^Arrow/.test(event.key)) return;
    const next = beside(td, event.key);
    if (!next) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    next.firstElementChild.tabIndex = 0;
    next.firstElementChild.focus();
  });
  // Most readers want the newest releases, at the far end.
  grid.parentNode.scrollLeft = grid.parentNode.scrollWidth;
})();
