"use strict";
// Everything here only adds: a picker, filters, a panel. What it shows is in the page without it.
(() => {
  const $ = id => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  document.documentElement.classList.add("on");
  const undecided = new Set(data.undecided);
  const at = new Map(data.cells.map((cell, place) => [cell.id, place]));
  const versions = data.cells.map(cell => Object.fromEntries(cell.packages.map(n => data.packages[n].split(" "))));
  const grid = $("grid");

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const link = (target, ...children) => make("a", {href: "#" + target}, ...children);
  const chip = (verdict, told) => make("span", {class: "v " + verdict}, `${data.glyphs[verdict] || ""} ${told || verdict}`);
  const by = (id, list) => list.find(each => each.id === id);
  const kind = number => {
    const [verdict, behaviour, reason, expected, agreement, workaround, known, attempts, detail] = data.kinds[number];
    return {verdict, behaviour, reason, expected, agreement, workaround, known, attempts, detail};
  };
  // What jax does by itself, its own release's cell shows: arms do not ask.
  const seen = (place, theCase) => {
    if (theCase.seen[place] < 0 && theCase.needs.every(name => name === "jax" || name === "jaxlib"))
      place = at.get("jax-" + versions[place].jax);
    return place === undefined || theCase.seen[place] < 0 ? null : kind(theCase.seen[place]);
  };

  // The upgrade picker.
  const resolve = text => {
    text = text.trim();
    if (at.has(text)) return {place: at.get(text), note: ""};
    const wanted = {};
    for (const [, name, version] of text.matchAll(/(?:(jaxlib|jax|equinox|diffrax)[^\d]*)?(\d+(?:\.\d+)+)/gi))
      wanted[(name || "jax").toLowerCase()] = version;
    const names = Object.keys(wanted);
    if (!names.length) return {note: `“${text}” names no release: try “jax 0.4.30”.`};
    const score = place => names.filter(name => versions[place][name] === wanted[name]).length
      + (data.cells[place].line ? .1 : 0) + (wanted[data.cells[place].moves] ? .2 : 0) + (data.cells[place].compared ? .05 : 0);
    const best = data.cells.map((_, place) => place).reduce((a, b) => score(b) > score(a) ? b : a);
    const met = names.filter(name => versions[best][name] === wanted[name]).length;
    const asked = names.map(name => `${name} ${wanted[name]}`).join(", ");
    if (!met) return {note: `No stack here has ${asked}.`};
    return {place: best, note: met < names.length ? `No stack here has ${asked} together; ${data.cells[best].id} is the nearest.` : ""};
  };
  const turned = (before, after) => {
    if (!before || !after || undecided.has(before.verdict) || undecided.has(after.verdict)) return null;
    const bad = each => each.verdict !== "clear" && each.verdict !== "absent";
    if (bad(before) && bad(after))
      return before.verdict === after.verdict && before.behaviour === after.behaviour ? "stays" : "changes";
    return bad(after) ? "appears" : bad(before) ? "goes" : null;
  };
  const titles = {appears: "Appears", changes: "Changes", goes: "Goes away", stays: "Stays"};
  const compare = (from, to) => {
    const answer = $("answer");
    answer.replaceChildren();
    const ends = [resolve(from), resolve(to)];
    for (const each of ends) if (each.note) answer.append(make("p", {}, each.note));
    if (ends.some(each => each.place === undefined)) return;
    const [a, b] = ends.map(each => each.place);
    const told = place => ["jax", "equinox", "diffrax"].map(name => versions[place][name] ? `${name} ${versions[place][name]}` : "").filter(Boolean).join(", ");
    answer.append(make("p", {}, "From ", link("cell-" + data.cells[a].id, data.cells[a].id), ` (${told(a)}) to `,
      link("cell-" + data.cells[b].id, data.cells[b].id), ` (${told(b)}).`));
    const turns = {appears: [], changes: [], goes: [], stays: []};
    let open = 0;
    for (const issue of data.issues) for (const theCase of issue.cases) {
      const [before, after] = [seen(a, theCase), seen(b, theCase)];
      if (!before || !after || undecided.has(before.verdict) || undecided.has(after.verdict)) { open += 1; continue; }
      const how = turned(before, after);
      if (how) turns[how].push({issue, theCase, before, after});
    }
    for (const [how, of] of Object.entries(turns)) {
      const heading = make("h3", {}, titles[how] + " ", make("span", {class: "soft"}, String(of.length)));
      const body = make("div", {"data-turned": how});
      for (const issue of new Set(of.map(each => each.issue))) {
        const list = make("ul");
        for (const each of of.filter(each => each.issue === issue)) {
          const words = how === "stays" ? [chip(each.after.verdict, each.after.behaviour)]
            : [chip(each.before.verdict, each.before.behaviour), " → ", chip(each.after.verdict, each.after.behaviour)];
          const item = make("li", {}, link(`${issue.id}/${each.theCase.id}`, each.theCase.id), " ", ...words);
          if (each.after.workaround === "holds") item.append(make("span", {class: "soft"}, " its workaround holds there"));
          if (each.after.workaround === "fails") item.append(make("span", {}, " its workaround fails there"));
          list.append(item);
        }
        body.append(make("p", {}, link(issue.id, issue.title)), list);
        if (how !== "goes") body.append(make("p", {class: "workaround"}, make("strong", {}, "Workaround. "), issue.workaround));
      }
      if (how === "stays" && of.length) {
        const fold = make("details", {}, make("summary", {}, `${titles[how]}: ${of.length} case${of.length === 1 ? "" : "s"} that you know already`), body);
        answer.append(fold);
      } else answer.append(heading, of.length ? body : make("p", {class: "soft"}, "Nothing."));
    }
    if (open) answer.append(make("p", {class: "soft"}, `Of ${open} case${open === 1 ? "" : "s"} it is not known: not run on both.`));
  };
  const picked = () => `upgrade:${$("from").value.trim()}..${$("to").value.trim()}`;
  $("picker").addEventListener("submit", event => {
    event.preventDefault();
    go(picked());
  });
  for (const id of ["from", "to"]) $(id).addEventListener("change", () => $("from").value && $("to").value && go(picked()));

  // The matrix: filters, and arrow keys.
  const filters = {package: "f-package", kind: "f-kind", verdict: "f-verdict", since: "f-since"};
  const heads = grid ? [...grid.querySelectorAll("thead [data-cell]")] : [];
  // Classes come and go; the verdict does not.
  if (grid) for (const cell of grid.querySelectorAll("tbody td")) cell.dataset.v = cell.className.split(" ")[0];
  const isLib = heads.map(head => head.classList.contains("lib"));
  const minors = [...new Set(heads.map(head => head.dataset.minor))];
  const rows = grid ? [...grid.querySelectorAll("tbody tr")] : [];
  const filter = () => {
    const value = Object.fromEntries(Object.entries(filters).map(([name, id]) => [name, $(id).value]));
    const oldest = Math.max(0, minors.indexOf(value.since));
    const off = heads.map((head, place) => minors.indexOf(head.dataset.minor) < oldest || ($("f-jax").checked && isLib[place]));
    heads.forEach((head, place) => head.classList.toggle("off", off[place]));
    for (const group of grid.querySelectorAll("thead [data-minor][scope=colgroup]")) {
      const left = heads.filter((head, place) => head.dataset.minor === group.dataset.minor && !off[place]).length;
      group.classList.toggle("off", !left);
      if (left) group.colSpan = left;
    }
    let shown = 0;
    for (const row of rows) {
      const cells = [...row.querySelectorAll("td")];
      // A word is wider than a column: of visible neighbours with one verdict, some have room for it.
      let of = [];
      const end = () => of.forEach((cell, place) => {
        if (cell.firstChild) cell.firstChild.classList.toggle("r", place % 8 === 0 && of.length - place > 1);
      });
      cells.forEach((cell, place) => {
        cell.classList.toggle("off", off[place]);
        if (off[place]) return;
        if (of.length && cell.dataset.v !== of[0].dataset.v) { end(); of = []; }
        of.push(cell);
      });
      end();
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
      } while (next && (!next.offsetParent || !next.firstChild));
      if (!next) return;
      event.preventDefault();
      event.target.tabIndex = -1;
      next.firstChild.tabIndex = 0;
      next.firstChild.focus();
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
  const close = () => {
    panel.hidden = true;
    for (const each of document.querySelectorAll("td.here")) each.classList.remove("here");
    if (opener && opener.isConnected) opener.focus({preventScroll: true});
    opener = null;
  };
  const row = (list, name, ...value) => list.append(make("dt", {}, name), make("dd", {}, ...value));
  const packagesOf = place => data.cells[place].packages.map(n => data.packages[n]).join(", ");
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
    const each = kind(theCase.seen[place]), cell = data.cells[place], list = make("dl");
    row(list, "verdict", chip(each.verdict));
    row(list, "behaviour", each.behaviour || "none of the documented");
    if (each.reason) row(list, "reason", each.reason);
    row(list, "expected", `${each.expected || "nothing known"} (${each.agreement})`);
    row(list, "workaround", each.workaround + (each.known ? "" : ", not as known"));
    row(list, "attempts", `${each.attempts}, the last ${theCase.seconds[place]} s and ${theCase.mib[place]} MiB`);
    row(list, "detail", each.detail);
    row(list, "packages", `Python ${cell.python}, ${packagesOf(place)}`);
    row(list, "lock", make("code", {}, cell.lock));
    row(list, "run it again", ...command(data.replay.replace("{cell}", cell.id).replace("{issue}", issue.id)));
    const steps = make("nav", {"aria-label": "Neighbours"});
    const place2 = heads.findIndex(head => head.dataset.cell === cell.id);
    for (const [move, told] of [[-1, "← "], [1, " →"]]) {
      const next = place2 < 0 ? null : heads[place2 + move];
      if (next) steps.append(link(`cell-${next.dataset.cell}/${issue.id}/${theCase.id}`, move < 0 ? told + next.dataset.cell : next.dataset.cell + told));
    }
    fill(`${issue.id}/${theCase.id} on ${cell.id}`, make("p", {}, theCase.question), list,
      make("p", {}, link(`${issue.id}/${theCase.id}`, "The case, its source and its workaround")), steps);
    const here = $(`cell-${cell.id}/${issue.id}/${theCase.id}`);
    if (here) {
      for (const each of document.querySelectorAll("td.here")) each.classList.remove("here");
      here.classList.add("here");
      if (here.closest("tbody")) here.closest("tbody").querySelector(".fold input").checked = true;
    }
    return here;
  };
  const showCell = place => {
    const cell = data.cells[place], list = make("dl");
    row(list, "released", cell.on);
    row(list, "metadata × runs", cell.compared ? make("span", {class: "v " + cell.compared}, `${data.compared[cell.compared]} ${cell.compared}`) : "not tried", cell.excluded ? " " + cell.excluded : "");
    row(list, "packages", `Python ${cell.python}, ${packagesOf(place)}`);
    row(list, "lock", make("code", {}, cell.lock));
    const seenHere = make("ul");
    for (const issue of data.issues) for (const theCase of issue.cases) if (theCase.seen[place] >= 0) {
      const each = kind(theCase.seen[place]);
      seenHere.append(make("li", {}, chip(each.verdict, each.behaviour), " ", link(`cell-${cell.id}/${issue.id}/${theCase.id}`, `${issue.id}/${theCase.id}`)));
    }
    row(list, "seen", seenHere);
    fill(cell.id, list);
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
    if (told.startsWith("upgrade:")) {
      const [from, to = ""] = told.slice(8).split("..");
      [$("from").value, $("to").value] = [from, to];
      compare(from, to);
      if (arriving) $("upgrade").scrollIntoView();
    } else if (told.startsWith("matrix:") && grid) {
      const wanted = Object.fromEntries(told.slice(7).split(",").map(each => each.split("=")));
      for (const [name, id] of Object.entries(filters)) $(id).value = wanted[name] || "";
      $("f-jax").checked = "jax-only" in wanted;
      filter();
      if (arriving) $("matrix").scrollIntoView();
    } else if (told.startsWith("cell-")) {
      const [cell, issueId, caseId] = told.slice(5).split("/");
      const issue = by(issueId, data.issues), theCase = issue && by(caseId, issue.cases), place = at.get(cell);
      if (place === undefined) return;
      if (!issueId) showCell(place);
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
  if (data.year) {
    [$("from").value, $("to").value] = data.year;
    compare(...data.year);
  }
  if (location.hash) show(location.hash.slice(1), true);
})();
