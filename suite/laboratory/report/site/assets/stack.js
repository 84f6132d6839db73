"use strict";
// The two boxes and their answer: the known issues of one stack, or the changes between two.
(() => {
  const $ = id => document.getElementById(id);
  const {known, guests, pythons, refused, verdicts} = STACK, {names, cells, cases} = rules.decode(STACK), judge = works(STACK);
  const byId = new Map(cells.map(cell => [cell.id, cell]));
  const matter = new Set(cases.flatMap(each => each.matter));
  const tried = new Set(cases.flatMap(each => each.runs.map(run => run.cell)));
  const newest = cells.findLast(cell => cell.moves && tried.has(cell));
  const release = (name, versions) => `${name} ${known[name][versions[name]]}`;
  const listOf = (of, versions) => of.filter(name => name in versions).map(name => release(name, versions)).join(", ");

  // A question: packages and versions, or a whole stack by its cell or by one release of the line.
  const asked = text => {
    const id = text.trim(), read = rules.read(text, {...known, python: pythons}), {python = null, ...rest} = read.versions;
    const all = Object.keys(rest).filter(name => !rules.PLUGIN.test(name)), versions = Object.fromEntries(all.map(name => [name, rest[name]]));
    const plugins = Object.fromEntries(Object.keys(rest).filter(name => !(name in versions)).map(name => [name, known.jaxlib[rest[name]] || read.unknown[name]]));
    const reading = {...read, versions, python, plugins};
    const single = all.length === 1 && reading.versions[all[0]] !== null ? all[0] : "";
    const line = single && cells.find(each => each.moves === single && each.pins[single] === reading.versions[single] && tried.has(each));
    return {...reading, text: id, all, single, isId: byId.has(id), cell: byId.get(id) || line || null, notes: byId.has(id) ? [] : reading.notes};
  };
  const ofCell = (cell, {python, plugins}) => ({cell, python, plugins, all: [], kept: [], lost: [], beside: [], versions: {...cell.pins}, works: judge.judged(cell.pins, python, plugins)});
  const having = versions => [...tried].filter(cell => guests.every(name => name in versions || !(name in cell.pins))
    && Object.entries(versions).every(([name, place]) => !matter.has(name) || cell.pins[name] === place));
  // Unnamed packages that the named ones import are as `check` assumes them.
  const ofVersions = (versions, kept, {unknown, python, plugins}) => {
    const all = names.filter(name => versions[name] !== undefined && versions[name] !== null), lost = Object.keys(versions).filter(name => versions[name] === null);
    const given = Object.fromEntries(all.map(name => [name, versions[name]])), {pins} = judge.lookedUp(given, python, lost);
    const text = lost.map(name => `${name} ${unknown[name]}`), outside = text.filter((_, n) => guests.includes(lost[n]));
    const beside = names.filter(name => name in pins && !(name in given));
    return {cell: null, python, plugins, all, kept, lost: text, beside, versions: pins, works: judge.judged(given, python, plugins, lost, outside)};
  };
  const from = ask => ask.newest ? ofCell(newest, ask) : ask.cell ? ofCell(ask.cell, ask) : ofVersions(ask.versions, [], ask);
  // The second box names what moves; the rest is kept. Two single releases of one package mean two dates of the line.
  const to = (before, asked, start) => {
    const ask = {...asked, python: asked.python ?? start.python};
    if (ask.newest) {
      const of = start.all.filter(name => name !== "jaxlib");
      if (of.every(name => newest.pins[name] === known[name].length - 1)) return ofCell(newest, ask);
      return ofVersions(Object.fromEntries(of.map(name => [name, known[name].length - 1])), [], ask);
    }
    const unnamed = ask.isId && ask.text.split("+").some(part => !names.includes(part.replace(/-\d.*$/, "")));
    if (unnamed || (ask.cell && tried.has(ask.cell) && start.cell && (ask.isId || ask.single === before.single))) return ofCell(ask.cell, ask);
    const along = "jax" in ask.versions && !("jaxlib" in ask.versions), base = start.cell ? Object.keys(start.versions) : start.all;
    const kept = base.filter(name => !(name in ask.versions) && !(name === "jaxlib" && along));
    return ofVersions({...Object.fromEntries(kept.map(name => [name, start.versions[name]])), ...ask.versions}, kept, ask);
  };

  // The expectation of each case in a stack.
  const expected = (theCase, end) => {
    const found = rules.predict(theCase, end.versions, theCase.runs), verdictOf = behaviour => theCase.behaviours[behaviour] || behaviour;
    if (found.behaviour) return {...found, told: found.behaviour, verdict: verdictOf(found.behaviour), stands: verdicts[verdictOf(found.behaviour)][1], end};
    const either = found.runs.length ? [] : rules.oneOf(theCase, end.versions, theCase.runs), all = new Set(either.map(each => verdictOf(each.behaviour)));
    if (all.size !== 1) return {...found, told: "", verdict: "", stands: "unknown", end};
    const [verdict] = all, told = [...new Set(either.map(each => each.behaviour))].join(" or ");
    return {...found, how: "by rule", rules: either, told, verdict, stands: verdicts[verdict][1], end};
  };
  const foreseen = end => {
    const there = end.lost.length ? [] : having(end.versions), zero = cases.filter(each => each.rowZero), found = new Map(zero.map(each => [each, expected(each, end)]));
    const broken = new Map(zero.map(each => [each, rules.broken(found.get(each), each)]).filter(([, of]) => of.length));
    const stops = new Set([...broken.values()].flat());
    for (const each of cases) if (!each.rowZero && each.needs.every(name => name in end.versions || !guests.includes(name))) {
      const told = expected(each, end), awaited = told.how === "run" ? [] : each.waits.map(place => place < 0 ? "" : expected(cases[place], end).stands);
      const blocked = each.imports.some(name => stops.has(name))
        || awaited.includes("symptom")
        || (told.how !== "run" && there.length && there.every(cell => each.blocked.has(cell)));
      const open = awaited.includes("") ? {...told, told: "", verdict: "", how: "unknown", stands: "unknown"} : told;
      found.set(each, blocked ? {...told, stands: "blocked"} : open);
    }
    return {found, zero, broken, stops, there};
  };
  const turned = (before, after) => {
    const [was, now] = [before.stands, after.stands], either = each => was === each || now === each;
    if (either("blocked")) return "blocked";
    if (either("unknown")) return "unknown";
    if (either("documented")) return before.told === after.told || either("absent") ? "" : "documented";
    if (was === "symptom" && now === "symptom") return before.told === after.told ? "stays" : "changes";
    return now === "symptom" ? "appears" : was === "symptom" ? "goes" : "";
  };

  // Elements.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const soft = (...children) => make("span", {class: "soft"}, ...children);
  const link = (target, ...children) => make("a", {href: target}, ...children);
  const chip = (verdict, told) => make("span", {class: `v ${verdict}`}, `${verdicts[verdict][0]} ${told || verdict}`);
  // An id may wrap after a plus, never within a version.
  const idOf = id => id.split("+").flatMap((part, n) => [...(n ? ["+", make("wbr")] : []), make("span", {class: "whole"}, part)]);
  const cellLink = cell => link(cell.moves ? `releases/${cell.id}.html` : `cells.html#${cell.id}`, ...idOf(cell.id));
  const caseLink = theCase => link(`issues/${theCase.issue}.html#${theCase.id}`, theCase.rowZero ? spoken(theCase.id) : theCase.id);
  const some = (list, most, make) => list.slice(0, most).flatMap((each, n) => [n ? ", " : "", make(each)])
    .concat(list.length > most ? ` and ${list.length - most} more` : []);
  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const spoken = id => (id[0].toUpperCase() + id.slice(1)).replaceAll("-", " ");
  const shown = each => each.verdict ? chip(each.verdict, each.told) : soft(each.stands === "blocked" ? "blocked" : "unknown");
  const how = each => {
    const words = make("span", {class: "how"}, make("em", {}, each.how));
    const own = each.how === "run" && each.runs.find(run => run.cell === each.end.cell);
    if (own) words.append(" ", cellLink(own.cell));
    else if (each.how === "run") words.append(" as ", ...some(each.runs, 2, run => cellLink(run.cell)));
    else if (each.how === "between") words.append(" ", ...some(each.runs, 2, run => cellLink(run.cell)));
    const open = rules.namesOf(each.rules).filter(name => !(name in each.end.versions));
    if (each.how === "by rule") {
      if (each.rules.length === 1 && each.rules[0].evidence) words.append(`: ${each.rules[0].evidence}`);
      else if (each.rules.length > 1) words.append(`, whichever ${open.join(" and ")} it has`);
      if (each.runs.length) words.append("; nearest ", ...some(each.runs, 2, run => cellLink(run.cell)));
    }
    if (each.how === "unknown") {
      if (each.runs.length) words.append(": ", ...some(each.runs, 2, run => cellLink(run.cell)), " contradicts its rule");
      else words.append(open.length ? `: it depends on ${open.join(", ")}` : ": no rule or neighbours");
    }
    return words;
  };

  // The reason of an unknown names it, so no chip is shown.
  const seen = each => each.how === "unknown" && !each.verdict ? [how(each)] : [shown(each), " ", how(each)];

  // The verdict that marks the judgement of a stack.
  const mark = of => STACK.marks[["refused", "broken", "well"].find(name => of[name].length)] || "";
  const standing = (end, after, before) => {
    const {found, zero, broken, there} = after;
    if (!zero.length) return [];
    const verdict = mark(end.works), words = end.works.sentence || "Not known.", sign = verdict ? `${verdicts[verdict][0]} ` : "";
    const made = [make("h2", {class: "standing"}, make("span", {class: `v ${verdict}`}, `${sign}${words}`))];
    const list = make("ul", {class: "zero"}), whole = zero.filter(each => each.needs.every(name => name in end.versions));
    for (const each of broken.size ? [...broken.keys()].slice(0, 1) : whole) {
      const now = found.get(each), was = before && before.found.get(each);
      list.append(make("li", {}, caseLink(each), ": ", ...(was && was.told !== now.told ? [shown(was), " → "] : []), ...seen(now)));
    }
    made.push(list);
    // Tested stacks with the named versions tell of solves with others.
    if (there.length && !broken.size && (whole.length < zero.length || zero.some(each => found.get(each).how === "unknown"))) {
      const some = there.slice(0, 6).map(cell => make("li", {}, cellLink(cell), ": ", ...zero.flatMap(each =>
        each.runs.filter(run => run.cell === cell).flatMap(run => [chip(each.behaviours[run.behaviour] || run.behaviour, run.behaviour), " "]))));
      made.push(make("p", {}, `${count(there.length, "tested stack")} with these versions and others:`), make("ul", {}, ...some));
    }
    return made;
  };
  const refusals = end => [...new Set(refused.filter(([place, of, alone]) => end.cell === cells[place]
    || (alone && of.every(name => end.versions[name] === cells[place].pins[name]))).map(each => each[3]))];
  const told = (end, kept) => {
    const made = make("span", {});
    if (end.cell) {
      made.append(cellLink(end.cell), ` (${listOf(STACK.asked, end.versions)}`, end.cell.moves ? `; as an installer gave it on ${end.cell.on})` : ")");
      return made;
    }
    const there = end.lost.length ? [] : having(end.versions), named = end.all.filter(name => !end.kept.includes(name));
    made.append(make("strong", {}, [...named.map(name => release(name, end.versions)), ...end.lost].join(", ")));
    if (kept && end.kept.length) made.append(`, kept: ${listOf(end.kept, end.versions)}`);
    const where = there.length ? ["run as ", ...some(there, 2, cellLink)] : [end.lost.length ? `${end.lost.join(", ")} unknown here` : "no such stack was run"];
    const only = end.beside.length === 1 && end.beside[0] === "jaxlib";
    if (end.beside.length) where.push(only ? `; ${release("jaxlib", end.versions)} goes with its jax` : `; other packages, as an installer gave them: ${listOf(end.beside, end.versions)}`);
    made.append(" (", ...where, ")");
    return made;
  };

  // What to do instead, each text once; null where the workaround is for something else, "" where it is known to fail.
  const instead = (theCase, each) => {
    if (!theCase.workaround || !each.verdict || !verdicts[each.verdict][2]) return null;
    const words = new Set(each.how === "run" ? each.runs.map(run => run.workaround) : []);
    if (words.has("fails") || theCase.workaround.fails.some(on => rules.met(on, each.end.versions))) return "";
    return each.how === "run" && !words.has("holds") ? null : theCase.workaround.text;
  };
  const todo = of => {
    const byText = new Map();
    for (const {theCase, after} of of) {
      const text = instead(theCase, after);
      if (text) byText.set(text, [...byText.get(text) || [], theCase]);
    }
    return byText;
  };
  const toDo = byText => make("ul", {class: "todo"}, ...[...byText].map(([text, of]) => {
    const issues = [...new Set(of.map(each => each.issue))];
    const whose = issues.flatMap((issue, n) => [n ? "; " : "", `${issue}: `, ...some(of.filter(each => each.issue === issue), 99, caseLink)]);
    return make("li", {}, text, " ", soft("For ", ...whose, "."));
  }));
  const listed = (of, ends, level = {}) => {
    const body = make("div", {class: "issues"});
    for (const issue of new Set(of.map(each => each.theCase.issue))) {
      const those = of.filter(each => each.theCase.issue === issue), list = make("ul");
      body.append(make("h4", level, link(`issues/${issue}.html`, those[0].theCase.title)));
      // Group cases of an issue with the same answer.
      const groups = new Map();
      for (const each of those) {
        const told = ends(each), fails = instead(each.theCase, each.after) === "" ? [" The workaround is known to fail there."] : [];
        const key = told.map(end => end.textContent ?? end).join("\n") + fails;
        if (groups.has(key)) groups.get(key).alike.push(each.theCase);
        else groups.set(key, {alike: [each.theCase], told: [...told, ...fails]});
      }
      for (const {alike, told} of groups.values()) list.append(make("li", {}, ...some(alike, 99, caseLink), ": ", ...told));
      body.append(list);
    }
    return body;
  };
  const now = ({after}) => [make("span", {}, ...seen(after))];
  const both = ({before, after}) => {
    const [was, is] = [how(before), how(after)];
    return [make("span", {}, shown(before), " → ", shown(after), " "), ...(was.textContent === is.textContent ? [is] : [was, " → ", is])];
  };
  const section = (key, title, of, ends) => of.length
    ? [make("section", {"data-turned": key}, make("h3", {}, `${title} `, soft(String(of.length))), listed(of, ends))] : [];
  const folded = (key, summary, of, ends, ...more) =>
    of.length ? [make("details", {"data-turned": key}, make("summary", {}, summary), listed(of, ends, {"aria-level": "3"}), ...more)] : [];
  // Blocked cases are only counted.
  const stopped = (number, what) => number ? [make("p", {class: "soft"}, what)] : [];
  const whatToDo = byText => byText.size ? [make("section", {"data-turned": "todo"}, make("h3", {}, "Workarounds"), toDo(byText))] : [];

  const bites = after => {
    const all = cases.filter(each => !each.rowZero && after.found.has(each)).map(theCase => ({theCase, after: after.found.get(theCase)})), loudly = each => each.verdict && verdicts[each.verdict][3];
    const zero = after.zero.map(theCase => ({theCase, after: after.found.get(theCase)}));
    const by = wanted => all.filter(each => wanted(each.after)), loud = by(each => each.stands === "symptom" && loudly(each));
    const bad = by(each => each.stands === "symptom" && !loudly(each)), design = by(each => each.stands === "documented");
    const well = by(each => ["well", "absent"].includes(each.stands)), blocked = by(each => each.stands === "blocked"), open = by(each => each.stands === "unknown");
    const byText = todo([...zero, ...bad, ...loud]), rest = new Map([...todo(design)].filter(([text]) => !byText.has(text)));
    return [
      ...(bad.length ? [] : [make("p", {}, open.length ? "No issue is known to affect this stack." : "No issue affects this stack.")]),
      ...section("bites", "Known issues", bad, now), ...section("refused", "Refused or warned", loud, now),
      ...whatToDo(byText), ...stopped(blocked.length, `Blocked: ${count(blocked.length, "case")} that ${blocked.length === 1 ? "needs" : "need"} a package that does not import or work.`),
      ...folded("documented", `Documented surprises: ${count(design.length, "case")}`, design, now, ...whatToDo(rest)),
      ...folded("well", `Clear: ${count(well.length, "case")}`, well, now), ...folded("unknown", `Not known: ${count(open.length, "case")}`, open, now),
    ];
  };
  const brings = (before, after) => {
    const turns = {appears: [], changes: [], documented: [], goes: [], stays: [], blocked: [], unknown: []};
    for (const theCase of cases.filter(each => !each.rowZero && before.found.has(each) && after.found.has(each))) {
      const each = {theCase, before: before.found.get(theCase), after: after.found.get(theCase)}, turn = turned(each.before, each.after);
      if (turn) turns[turn].push(each);
    }
    const zero = after.zero.map(theCase => ({theCase, after: after.found.get(theCase)})), {appears, changes, documented, goes, stays} = turns;
    const fresh = todo([...zero, ...appears, ...changes, ...documented]), all = todo([...zero, ...appears, ...changes, ...documented, ...stays]);
    const byText = new Map([...all].filter(([text]) => fresh.has(text))), rest = new Map([...all].filter(([text]) => !fresh.has(text)));
    const empty = [["appears", appears], ["changes", changes], ["disappears", goes]].filter(([, of]) => !of.length).map(([word]) => word);
    const nothing = empty.join(", ").replace(/, ([^,]*)$/, " or $1");
    const blocked = turns.blocked.filter(each => each.after.stands === "blocked").length, freed = turns.blocked.length - blocked;
    return [
      ...(nothing ? [make("p", {}, `Nothing ${nothing}.`)] : []),
      ...section("appears", "Appears", appears, both), ...section("changes", "Changes", changes, both),
      ...section("documented", "Documented behaviour changes", documented, both), ...section("goes", "Disappears", goes, both), ...whatToDo(byText),
      ...stopped(blocked, `Blocked: ${count(blocked, "case")} that ${blocked === 1 ? "needs" : "need"} a package that does not import or work there.`),
      ...stopped(freed, `Not compared: ${count(freed, "case")} that ${freed === 1 ? "needs" : "need"} a package that does not import or work before the upgrade.`),
      ...folded("stays", `Stays: ${count(stays.length, "case")} that already affect${stays.length === 1 ? "s" : ""} your stack`, stays, now, ...whatToDo(rest)),
      ...folded("unknown", `Not known: ${count(turns.unknown.length, "case")}`, turns.unknown, both),
    ];
  };

  // Each answer has an address. A long or pasted text is replaced by the versions read from it.
  const ARROW = /\.\.|→|->/;
  const short = ask => /[\r\n]/.test(ask.text) || ask.text.length > 200 || ARROW.test(ask.text)
    ? ask.all.map(name => ask.versions[name] === null ? `${name} ${ask.unknown[name]}` : release(name, ask.versions)).join(" ") : ask.text;
  const address = asks => `#${asks.map(ask => encodeURIComponent(short(ask))).join("..")}`;
  const more = (before, ask, start, end) => {
    const made = [], name = "jax" in end.versions && cells.find(cell => cell.moves === "jax" && cell.pins.jax === end.versions.jax && tried.has(cell));
    if (name) made.push(make("p", {}, link(`releases/${name.id}.html`, `What to install for ${release("jax", end.versions)}`), ": the newest tested set of packages that works with it."));
    if (ask && start.cell && end.cell && !ask.newest) {
      const all = `#${encodeURIComponent(names.filter(each => each in start.versions).map(each => release(each, start.versions)).join(" "))}`;
      made.push(make("p", {}, link(`${all}..${encodeURIComponent(ask.text)}`, `Keep the rest as it is with ${before.text}`), " instead of what an installer gave on that day."));
    }
    return made;
  };
  const answer = (first, second) => {
    const asks = [first, second].filter(text => text.trim()).map(asked), verdict = $("verdict"), rest = $("rest");
    verdict.replaceChildren();
    rest.replaceChildren();
    $("share").hidden = true;
    if (!asks.length) return "";
    const where = address(asks), lost = asks.filter(ask => !ask.newest && !ask.all.length && !ask.cell);
    verdict.append(...[...new Set(asks.flatMap(ask => ask.notes))].map(note => make("p", {class: "note"}, note)));
    if (!newest) {
      verdict.replaceChildren(make("p", {}, "No stack was run for this report."));
      return where;
    }
    if (lost.length) {
      verdict.append(...lost.map(ask => make("p", {}, `“${ask.text.slice(0, 80)}${ask.text.length > 80 ? "…" : ""}” names no release of the stack. Try “jax 0.4.30”.`)));
      return where;
    }
    const [before, ask] = asks, start = from(before), end = ask ? to(before, ask, start) : start;
    const after = foreseen(end), was = ask && foreseen(start);
    const stays = ask && JSON.stringify(start.versions) === JSON.stringify(end.versions) ? [make("p", {}, "Both stacks are the same.")] : [];
    verdict.prepend(...refusals(end).map(why => make("p", {class: "refused"}, `⊘ ${why}.`)), ...standing(end, after, was));
    verdict.append(make("p", {class: "ends"}, ...(ask ? ["From ", told(start), " to ", told(end, true)] : ["On ", told(end)]), "."), ...stays);
    if (ask) verdict.append(...refusals(start).map(why => make("p", {class: "soft"}, `Before: ${why}.`)));
    rest.append(...(ask ? brings(was, after) : bites(after)), ...more(before, ask, start, end));
    $("address").textContent = `stack.html${where}`;
    $("address").setAttribute("href", where);
    $("share").hidden = false;
    return where;
  };

  const boxes = [$("mine"), $("next")];
  const ask = () => {
    const where = answer(...boxes.map(box => box.value));
    if (where && where !== location.hash) history.pushState(null, "", where);
  };
  const restore = () => {
    const hash = location.hash.slice(1);
    if (hash && document.getElementById(hash)) return;
    let told = hash;
    try { told = decodeURIComponent(hash); } catch { /* Not percent-encoded. */ }
    const [first, ...second] = told.split(ARROW).map(each => each.trim());
    [boxes[0].value, boxes[1].value] = [first, second.join(" ")];
    answer(...boxes.map(box => box.value));
  };
  $("asking").addEventListener("submit", event => { event.preventDefault(); ask(); });
  for (const box of boxes) {
    box.addEventListener("paste", () => setTimeout(ask));
    box.addEventListener("keydown", event => {
      // In a list of requirements, Enter starts a new line.
      if (event.key !== "Enter" || event.shiftKey || (box.value.includes("\n") && !event.ctrlKey)) return;
      event.preventDefault();
      ask();
    });
  }
  $("copy").addEventListener("click", () => {
    const done = () => { $("copied").textContent = "Copied."; setTimeout(() => { $("copied").textContent = ""; }, 2000); };
    const select = () => { getSelection().selectAllChildren($("address")); $("copied").textContent = "Selected: copy it."; };
    navigator.clipboard ? navigator.clipboard.writeText(location.href).then(done, select) : select();
  });
  addEventListener("hashchange", restore);
  if (location.hash) restore();
})();
