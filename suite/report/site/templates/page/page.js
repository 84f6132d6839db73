// Everything here only adds: filters, a panel. What it shows is in the page without it.
(() => {
  const $ = id => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  document.documentElement.classList.add("on");
  const at = new Map(data.cells.map((cell, place) => [cell.id, place]));
  const pins = data.cells.map(cell => Object.fromEntries(cell.packages.map(n => data.packages[n].split(" "))));
  const kinds = data.kinds.map(each => Object.fromEntries(each.map((value, place) => [data.told[place], value])));
  const cases = data.issues.flatMap(issue => issue.cases.map(each => Object.assign(each, {issue})));
  const grid = $("grid");

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const link = (target, ...children) => make("a", {href: "#" + target}, ...children);
  const chip = (verdict, told) => make("span", {class: "v " + verdict}, `${data.verdicts[verdict][0]} ${told || verdict}`);
  const by = (id, list) => list.find(each => each.id === id);
  const stands = verdict => data.verdicts[verdict][1];
  const some = (list, most, make) => list.slice(0, most).flatMap((each, n) => [n ? ", " : "", make(each)])
    .concat(list.length > most ? ` and ${list.length - most} more` : []);
  const cellLink = place => link("cell-" + data.cells[place].id, data.cells[place].id);

  // The matrix: filters, and arrow keys.
  const filters = {package: "f-package", kind: "f-kind", verdict: "f-verdict", since: "f-since"};
  const heads = grid ? [...grid.querySelectorAll("thead [data-cell]")] : [];
  // Classes come and go; the verdict does not.
  if (grid) for (const cell of grid.querySelectorAll("tbody td")) cell.dataset.v = cell.className.split(" ")[0];
  const minors = [...new Set(heads.map(head => head.dataset.minor))];
  const rows = grid ? [...grid.querySelectorAll("tbody tr")] : [];
  const filter = () => {
    const value = Object.fromEntries(Object.entries(filters).map(([name, id]) => [name, $(id).value]));
    const oldest = Math.max(0, minors.indexOf(value.since));
    const off = heads.map(head => minors.indexOf(head.dataset.minor) < oldest || ($("f-jax").checked && head.classList.contains("lib")));
    heads.forEach((head, place) => head.classList.toggle("off", off[place]));
    for (const group of grid.querySelectorAll("thead [data-minor][scope=colgroup]")) {
      const left = heads.filter((head, place) => head.dataset.minor === group.dataset.minor && !off[place]).length;
      group.classList.toggle("off", !left);
      if (left) group.colSpan = left;
    }
    let shown = 0;
    for (const row of rows) {
      const cells = [...row.querySelectorAll("td")], visible = cells.filter((_, place) => !off[place]);
      cells.forEach((cell, place) => cell.classList.toggle("off", off[place]));
      // A word is wider than a column: of visible neighbours with one verdict, some have room for it.
      let first = 0;
      visible.forEach((cell, place) => {
        if (cell.dataset.v !== visible[first].dataset.v) first = place;
        cell.firstElementChild?.classList.toggle("r", (place - first) % 8 === 0 && visible[place + 1]?.dataset.v === cell.dataset.v);
      });
    }
    const narrowed = value.package || value.kind || value.verdict;
    for (const body of grid.tBodies) {
      let left = 0;
      const cases = body.querySelectorAll("tr.case");
      for (const row of cases) {
        const fits = (!value.package || row.dataset.needs.split(" ").includes(value.package))
          && (!value.kind || body.dataset.kind === value.kind)
          && (!value.verdict || [...row.querySelectorAll("td")].some((cell, place) => !off[place] && cell.dataset.v === value.verdict));
        row.classList.toggle("off", !fits);
        left += fits;
      }
      body.classList.toggle("off", !left);
      // The issue's own row is the worst of all its cases, and these are not all.
      body.rows[0].classList.toggle("partial", left < cases.length);
      if (narrowed) body.querySelector(".fold input").checked = true;
      shown += left;
    }
    $("f-count").textContent = `${shown} of ${rows.filter(row => row.classList.contains("case")).length} cases, ${off.filter(each => !each).length} of ${off.length} releases`;
  };
  const chosen = () => {
    const told = Object.entries(filters).filter(([, id]) => $(id).value).map(([name, id]) => `${name}=${$(id).value}`);
    if ($("f-jax").checked) told.push("jax-only");
    return told.length ? "matrix:" + told.join(",") : "matrix";
  };
  if (grid) {
    for (const id of Object.values(filters).concat("f-jax")) $(id).addEventListener("change", () => {
      filter();
      history.replaceState(null, "", "#" + chosen());
    });
    const folds = [...grid.querySelectorAll(".fold input")];
    $("f-all").addEventListener("click", () => {
      const open = folds.some(each => !each.checked);
      for (const each of folds) each.checked = open;
      $("f-all").textContent = open ? "Fold all" : "Unfold all";
    });
    // One stop for the Tab key, and arrows within: nobody wants to tab through thousands of cells.
    const links = [...grid.querySelectorAll("td a")];
    links.forEach((each, place) => { each.tabIndex = place ? -1 : 0; });
    grid.addEventListener("keydown", event => {
      const cell = event.target.closest("td");
      const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!cell || !move) return;
      const visible = rows.filter(row => row.offsetParent);
      let [y, x] = [visible.indexOf(cell.parentNode), cell.cellIndex];
      let next = null;
      do {
        [y, x] = [y + move[0], x + move[1]];
        next = visible[y] && x > 0 && visible[y].cells[x];
      } while (next && (!next.offsetParent || !next.firstElementChild));
      if (!next) return;
      event.preventDefault();
      event.target.tabIndex = -1;
      next.firstElementChild.tabIndex = 0;
      next.firstElementChild.focus();
    });
    grid.addEventListener("click", event => {
      const cell = event.target.closest("td[id]");
      if (!cell || event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      go(cell.id);
    });
    filter();
    // The newest is what most come for, and it is at the far end.
    const box = grid.parentNode;
    box.scrollLeft = box.scrollWidth;
    for (const each of document.querySelectorAll(".stack")) each.parentNode.scrollLeft = 0;
  }

  // The panel: what was seen in one cell.
  const panel = $("panel");
  let opener = null;
  const unmark = () => grid?.querySelector("td.here")?.classList.remove("here");
  const close = () => {
    panel.hidden = true;
    unmark();
    if (opener && opener.isConnected) opener.focus({preventScroll: true});
    opener = null;
  };
  const listOf = rows => make("dl", {}, ...rows.flatMap(([name, ...value]) => [make("dt", {}, name), make("dd", {}, ...value)]));
  // What stands in the table of cells already.
  const inTable = (cell, what) => [...$("cell-" + cell.id).querySelectorAll(what)];
  const stackOf = cell => [
    ["packages", `Python ${cell.python}, ${cell.packages.map(n => data.packages[n]).join(", ")}`],
    ["lock", inTable(cell, "code")[0].cloneNode(true)],
  ];
  const fill = (title, ...content) => {
    const button = make("button", {type: "button", class: "close", "aria-label": "Close"}, "×");
    button.addEventListener("click", () => { close(); history.replaceState(null, "", "#matrix"); });
    const heading = make("h2", {id: "panel-title", tabindex: "-1"}, title);
    panel.replaceChildren(heading, button, ...content);
    panel.scrollTop = 0;
    panel.hidden = false;
    heading.focus({preventScroll: true});
  };
  const command = text => {
    const button = make("button", {type: "button"}, "Copy");
    button.addEventListener("click", () => navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }, () => {}));
    return [make("pre", {}, text), ...(navigator.clipboard ? [button] : [])];
  };
  const showSeen = (place, issue, theCase) => {
    const each = kinds[theCase.seen[place]], cell = data.cells[place], name = `${issue.id}/${theCase.id}`;
    const instead = each.workaround === "holds" ? `: ${data.workarounds[theCase.workaround][0]}` : "";
    const steps = make("nav", {"aria-label": "Neighbours"}), column = heads.findIndex(head => head.dataset.cell === cell.id);
    const [before, after] = column < 0 ? [] : [heads[column - 1]?.dataset.cell, heads[column + 1]?.dataset.cell];
    if (before) steps.append(link(`cell-${before}/${name}`, `← ${before}`));
    if (after) steps.append(link(`cell-${after}/${name}`, `${after} →`));
    fill(`${name} on ${cell.id}`, make("p", {}, theCase.question), listOf([
      ["verdict", chip(each.verdict)],
      ["behaviour", each.behaviour || "none of the documented"],
      ...(each.reason ? [["reason", each.reason]] : []),
      ["expected", `${each.expected || "nothing known"} (${each.agreement})`],
      ...(each.workaround === "none" ? [] : [["workaround", each.workaround, each.workaround_expected ? "" : ", not as known", instead]]),
      ["attempts", `${each.attempts}, the last ${theCase.seconds[place]} s and ${theCase.mib[place]} MiB`],
      ["detail", each.detail],
      ...stackOf(cell),
      ["run it again", ...command(data.replay.replace("{cell}", cell.id).replace("{issue}", issue.id))],
    ]), make("p", {}, link(name, "The case, its source and its workaround")), steps);
    const here = $(`cell-${cell.id}/${name}`);
    unmark();
    if (here) {
      here.classList.add("here");
      here.closest("tbody").querySelector(".fold input").checked = true;
    }
    return here;
  };
  const showCell = cell => {
    const place = at.get(cell.id), seenHere = make("ul");
    for (const {issue, id, seen} of cases) if (seen[place] >= 0) {
      const each = kinds[seen[place]];
      seenHere.append(make("li", {}, chip(each.verdict, each.behaviour), " ", link(`cell-${cell.id}/${issue.id}/${id}`, `${issue.id}/${id}`)));
    }
    const compared = cell.compared ? make("span", {class: "v " + cell.compared}, `${data.compared[cell.compared]} ${cell.compared}`) : "not tried";
    fill(cell.id, listOf([
      ["released", cell.on],
      ["metadata × runs", compared, " ", ...inTable(cell, ".excluded").map(each => each.textContent)],
      ...stackOf(cell),
      ["seen", seenHere],
    ]));
  };
  document.addEventListener("keydown", event => { if (event.key === "Escape" && !panel.hidden) close(); });
  document.addEventListener("click", event => {
    const target = event.target.closest(".stack td a, thead .release a");
    if (!target || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(target.getAttribute("href").slice(1));
  });

  // An address for each of these.
  const show = (hash, arriving) => {
    let told = hash;
    try { told = decodeURIComponent(hash); } catch { /* It is no escape, then. */ }
    if (told.startsWith("matrix:") && grid) {
      const wanted = Object.fromEntries(told.slice(7).split(",").map(each => each.split("=")));
      for (const [name, id] of Object.entries(filters)) $(id).value = wanted[name] || "";
      $("f-jax").checked = "jax-only" in wanted;
      filter();
      if (arriving) $("matrix").scrollIntoView();
    } else if (told.startsWith("cell-")) {
      const [cell, issueId, caseId] = told.slice(5).split("/");
      const issue = by(issueId, data.issues), theCase = issue && by(caseId, issue.cases), place = at.get(cell);
      if (place === undefined) return;
      if (!issueId) showCell(data.cells[place]);
      else if (theCase && theCase.seen[place] >= 0) {
        const here = showSeen(place, issue, theCase);
        if (here && here.closest(".off")) { for (const id of Object.values(filters)) $(id).value = ""; $("f-jax").checked = false; filter(); }
        if (here) here.scrollIntoView({block: arriving ? "center" : "nearest", inline: arriving ? "center" : "nearest"});
      }
    } else if (!panel.hidden) close();
  };
  const go = hash => {
    if (!opener) opener = document.activeElement;
    history.pushState(null, "", "#" + hash);
    show(hash, false);
  };
  addEventListener("hashchange", () => show(location.hash.slice(1), true));
  addEventListener("popstate", () => show(location.hash.slice(1), false));
  if (location.hash) show(location.hash.slice(1), true);
})();
