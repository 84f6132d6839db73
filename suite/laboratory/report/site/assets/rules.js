"use strict";
// The reader of stacks, and the expectations of any stack. Pure; a test compares it with suite/jax_stack_compat/judge/prediction.py.
// A version is a place in the list of its package's known releases, oldest first: no two versions are compared as text.
const rules = (() => {
  const distinct = list => [...new Set(list)];
  const alone = list => new Set(list).size === 1;
  const max = (list, key) => list.reduce((best, each) => best === null || key(each) > key(best) ? each : best, null);

  // Read a stack from a text: names of packages with versions. Only whole names count (jaxtyping is not jax), and a note
  // reports everything that is not taken literally.
  const LONGEST = 2_000_000;
  const canonical = name => name.replace(/[-_.]+/g, "-").toLowerCase();
  const spelled = text => text.toLowerCase().replace(/^v/, "").replace(/\+.*$/, "").replace(/\d+/g, digits => digits.replace(/^0+(?=\d)/, ""));
  const trimmed = text => text.replace(/(\.0)+$/, "");
  // The place of a known release, whatever zeros end it; -1 if unknown.
  const exactly = (of, text) => of.includes(text) ? of.indexOf(text) : of.findIndex(each => trimmed(each) === trimmed(text));
  const under = (of, text) => of.flatMap((each, place) => each.startsWith(text + ".") ? [place] : []);
  const VERSION = /^(?=.{1,60}$)v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|r?c|alpha|beta|pre(?:view)?|post|r(?:ev)?(?!c)|dev)(?:[-_.]?\d+)?)*(?:\+[\w.-]+)?$/i;
  const NAME = "[a-z](?:[a-z0-9]|[-_.]+(?=[a-z]))*", OPERATOR = "(?:===?|~=|!=|<=|>=|<|>|=)";
  const CLAUSE = `${OPERATOR}\\s*[^\\s,;()<>=!~]+`;
  // A version by itself; a name, with requirements, an address, or a version beside it; whatever else there is.
  const ITEM = `(v?\\d[\\w.!+-]*)|(${NAME})(?:\\s*\\[[^\\]]*\\])?(?:\\s*\\(?\\s*(${CLAUSE}(?:\\s*,\\s*${CLAUSE})*)\\s*\\)?|\\s*@\\s*\\S+`
    + "|\\s*:?\\s+(v?\\d[\\w.!+-]*|newest\\b|latest\\b)|-(\\d[\\w.!]*)(?=[\\s,+]|$))?|(\\S+)";
  const FILLERS = ["and", "with", "on", "from", "to"];

  // The places that a clause admits; null if its limit cannot be placed among the known releases.
  const admitted = (of, operator, text) => {
    const star = text.endsWith(".*"), wanted = spelled(star ? text.slice(0, -2) : text), every = of.map((_, place) => place);
    const here = exactly(of, wanted), below = under(of, wanted);
    if (operator === "~=") {
      const from = admitted(of, ">=", text), parts = wanted.split(".");
      return from && parts.length > 1 ? from.filter(place => under(of, parts.slice(0, -1).join(".")).includes(place)) : null;
    }
    if (star) return operator === "==" ? below : operator === "!=" ? every.filter(place => !below.includes(place)) : null;
    if (operator === "!=") return every.filter(place => place !== here);
    if (here < 0 && !(below.length && /^[<>]/.test(operator))) return null;
    // "0.5" is not a release itself; it sorts before all releases of 0.5.
    const edge = here < 0 ? below[0] : here, counted = here >= 0 && operator.endsWith("=");
    return operator.startsWith("<") ? every.filter(place => place < edge || (counted && place === edge))
      : operator.startsWith(">") ? every.filter(place => place > edge || (place === edge && (counted || here < 0))) : [here];
  };
  // The tables of a lock: uv.lock, pylock.toml, poetry.lock.
  const locked = text => {
    const found = [];
    let name = null;
    for (const line of text.split(/\r\n|\n|\r/)) {
      const key = /^(name|version)\s*=\s*["']([^"']*)["']/.exec(line.trim());
      if (/^\s*\[/.test(line)) name = /^\s*\[\[packages?\]\]/.test(line) ? "" : null;
      else if (key && name !== null && key[1] === "name") name = key[2];
      else if (key && name) found.push([name, key[2]]);
    }
    return found;
  };
  const MARKER = /\s*;\s*\(*\s*(?:python_|os_name|sys_platform|platform_|implementation_|extra\b|["']).*$/;
  const lines = text => text.replace(/[^\n\r -~]/gu, " ").replace(/ +/g, " ").split(/\r\n|\n|\r/)
    .map(raw => raw.replace(/(^|\s)#.*$|\s--hash=.*$|\\$/g, "").replace(MARKER, "").replace(/["' ]+/g, " ").trim().replace(/^-\s+/, ""))
    .filter(line => line && !line.startsWith("-"));
  const PLUGIN = /^jax-(cuda|rocm)\d*-(plugin|pjrt)$/;
  // Plugins for a GPU have jaxlib's releases. Of Python's releases, only the minor one counts.
  const releasesOf = (known, name) => known[PLUGIN.test(name) ? "jaxlib" : Object.hasOwn(known, name) ? name : ""];
  const minor = text => (text || "").replace(/^(\d+\.\d+)\..*$/, "$1");
  // Returns the place of each version, null if unknown; the text of unknown ones; the notes; and whether the text is
  // just "newest".
  const read = (text, known) => {
    const versions = {}, unknown = {}, notes = [], others = [], told = {};
    if (text.length > LONGEST) notes.push("The text is too long; its end is ignored.");
    const take = (name, place, written) => {
      const as = place ?? written;
      if (name in told && told[name] !== as) {
        notes.push(`${name} has more than one version; all are ignored.`);
        versions[name] = null;
        unknown[name] = "in several versions";
        return;
      }
      told[name] = as;
      versions[name] = place;
      if (place === null) {
        unknown[name] = written;
        notes.push(`${name} ${written} is not in this data, so answers that depend on it are unknown.`);
      }
    };
    const named = (raw, written, pinned) => {
      const name = canonical(raw), of = releasesOf(known, name), wanted = name === "python" ? minor(written) : written;
      if (!of) { others.push(name); return; }
      if (!wanted) { notes.push(`${name} has no version and is ignored.`); return; }
      if (/^(newest|latest)$/i.test(wanted)) { take(name, of.length - 1, "newest"); return; }
      if (!VERSION.test(wanted)) { notes.push(`“${wanted}” is not a version of ${name}.`); return; }
      const plain = spelled(wanted), below = pinned || name === "python" ? [] : under(of, plain), here = below.length ? of.indexOf(plain) : exactly(of, plain);
      if (wanted.includes("+")) notes.push(`${name} ${wanted} is read as ${plain}; builds are not distinguished.`);
      if (here >= 0) { take(name, here, plain); return; }
      if (!below.length) { take(name, null, plain); return; }
      notes.push(`${name} ${plain} is taken as its newest, ${of[below.at(-1)]}.`);
      take(name, below.at(-1), plain);
    };
    const required = (raw, clauses) => {
      const name = canonical(raw), of = releasesOf(known, name), told = clauses.replace(/\s+/g, "");
      if (!of) { others.push(name); return; }
      const parts = told.split(",").map(each => new RegExp(`^(${OPERATOR})(.*)$`).exec(each));
      if (parts.length === 1 && /^={1,3}$/.test(parts[0][1]) && !parts[0][2].endsWith("*")) { named(raw, parts[0][2], parts[0][1] !== "="); return; }
      const sets = parts.map(([, operator, wanted]) => VERSION.test(wanted.replace(/\.\*$/, "")) ? admitted(of, operator, wanted) : null);
      const all = sets.includes(null) ? [] : sets.reduce((left, set) => left.filter(place => set.includes(place)));
      if (!all.length || name === "python") { notes.push(`${name}${told} does not select one release of this data and is ignored.`); return; }
      notes.push(`${name}${told} is taken as its newest here, ${of[all.at(-1)]}.`);
      take(name, all.at(-1), told);
    };
    const short = text.slice(0, LONGEST), newest = /^\s*(newest|latest)(\s+of\s+everything)?\s*$/i.test(short);
    if (/^[ \t]*\[\[packages?\]\]/m.test(short)) for (const [name, version] of locked(short)) named(name, version, true);
    else if (!newest) for (const line of lines(short)) {
      for (const [, bare, name, clauses, spoken, dashed, rest] of line.matchAll(new RegExp(`[\\s,;+]*(?:${ITEM})`, "giy"))) {
        if (rest !== undefined) { if (/[^.:()|-]/.test(rest)) notes.push(`“${rest}” is not understood.`); }
        else if (bare === undefined) {
          if (clauses) required(name, clauses);
          else if (spoken || dashed || !FILLERS.includes(name.toLowerCase())) named(name, spoken || dashed, Boolean(dashed));
        } else if (others.length || Object.keys(versions).length) notes.push(`“${bare}” has no package name and is ignored.`);
        else named("jax", bare, false);
      }
    }
    const ignored = distinct(others);
    if (ignored.length) notes.push(`Ignored, not part of the stack: ${ignored.slice(0, 3).join(", ")}${ignored.length > 3 ? ` and ${ignored.length - 3} more` : ""}.`);
    return {versions, unknown, notes: distinct(notes), newest};
  };

  // rules.predict, of a case with `needs`, all that `matter` to it, `rules`, and `runs`: each has `pins` and a `behaviour`.
  // A rule is `on` requirements: each the name of a package, and the edges of the places that meet it.
  const meets = ({name, edges}, pins) => edges.findIndex(edge => pins[name] < edge) % 2 === 1;
  // True if all are met; null if that depends on an unknown version.
  // A stack that does not list everything is taken to have these packages, in any version.
  const BESIDE = ["absl-py", "flatbuffers"], LISTED = "opt-einsum";
  const isThere = (name, pins) => name in pins || (BESIDE.includes(name) && !(LISTED in pins));
  const met = (on, pins, allKnown = true) => {
    let open = false;
    for (const each of on) {
      if (each.name in pins) { if (!meets(each, pins)) return false; }
      else if (isThere(each.name, pins)) continue;
      else if (allKnown || BESIDE.includes(each.name)) return false;
      else open = true;
    }
    return open ? null : true;
  };
  const firstMatch = (table, pins) => table.find(each => met(each.on, pins)) || null;
  const possible = (table, versions) => {
    const found = [];
    for (const each of table) {
      const answer = met(each.on, versions, false);
      if (answer !== false) found.push(each);
      if (answer) return found;
    }
    return [...found, null];
  };
  const namesOf = table => distinct(table.flatMap(each => each.on.map(({name}) => name)));
  // The packages that do not import, by row zero's case: those named by its rules or, without any, jax.
  const broken = (imports, zero) => {
    const named = imports.behaviour === "import-error" ? namesOf(imports.rules).filter(name => name !== "jax" && name !== "jaxlib") : [];
    const building = named.filter(name => zero.imports.includes(name));
    return building.length || !named.length ? building : ["jax"];
  };
  const alike = (run, versions, matter) => matter.every(name => BESIDE.includes(name)
    ? isThere(name, run.pins) === isThere(name, versions) : !(name in versions) || run.pins[name] === versions[name]);
  const nearest = (theCase, found, versions, runs) => {
    if (!("jax" in versions)) return [];
    const of = runs.filter(each => "jax" in each.pins && found.includes(each.first ??= firstMatch(theCase.rules, each.pins)));
    const named = Object.keys(versions), likeness = each => named.filter(name => alike(each, versions, [name])).length;
    const side = (those, best) => {
      const place = best(...those.map(each => each.pins.jax));
      return max(those.filter(each => each.pins.jax === place), likeness);
    };
    return [side(of.filter(each => each.pins.jax <= versions.jax), Math.max), side(of.filter(each => each.pins.jax > versions.jax), Math.min)].filter(Boolean);
  };
  const between = (versions, matter, runs) => {
    const found = [];
    for (const name of matter.filter(each => each in versions && each !== "jax").sort()) {
      const beside = runs.filter(each => name in each.pins && alike(each, versions, matter.filter(other => other !== name)));
      const places = beside.map(each => each.pins[name]), here = versions[name];
      const below = max(places.filter(each => each < here), each => each), above = max(places.filter(each => each > here), each => -each);
      if (below === null || above === null) continue;
      const sides = beside.filter(each => [below, above].includes(each.pins[name]));
      if (sides.some(each => !alike(each, {...sides[0].pins, [name]: each.pins[name]}, matter))) continue;
      if (!alone(sides.map(each => each.behaviour))) return null;
      found.push({behaviour: sides[0].behaviour, how: "between", runs: sides, rules: []});
    }
    return alone(found.map(each => each.behaviour)) ? found[0] : null;
  };
  const predict = (theCase, versions, runs) => {
    const {matter} = theCase, told = ["jax", ...theCase.needs].every(name => name === "jaxlib" || name in versions);
    const here = told ? runs.filter(each => alike(each, versions, matter)) : [];
    const outcomes = possible(theCase.rules, versions), found = outcomes.filter(Boolean);
    const agreed = alone(outcomes.map(each => each && each.behaviour));
    if (alone(here.map(each => each.behaviour)) && agreed) {
      const said = here.map(each => firstMatch(theCase.rules, each.pins)), {behaviour} = here[0];
      return {behaviour, how: "run", runs: here, rules: theCase.rules.filter(each => said.includes(each) && each.behaviour === behaviour)};
    }
    if (agreed && found.length) {
      const near = nearest(theCase, found, versions, runs), same = near.every(each => each.behaviour === found[0].behaviour);
      return {behaviour: same ? found[0].behaviour : null, how: same ? "by rule" : "unknown", runs: near, rules: found};
    }
    return (!found.length && told && between(versions, matter, runs)) || {behaviour: null, how: "unknown", runs: [], rules: found};
  };
  // The rules that may match, if runs confirm each of them and only an unknown version decides.
  const oneOf = (theCase, versions, runs) => {
    const found = possible(theCase.rules, versions);
    const borne = each => each && nearest(theCase, [each], versions, runs).every(run => run.behaviour === each.behaviour);
    return found.length > 1 && found.every(borne) ? found : [];
  };
  // Turn the numbers of suite/laboratory/report/site/compiled.py into names: cells with versions, cases with rules and runs.
  const decode = data => {
    const names = Object.keys(data.known), said = list => list.map(n => names[n]);
    const cells = data.cells.map(([id, on, moves, places]) =>
      ({id, on, moves, pins: Object.fromEntries(names.map((name, n) => [name, places[n]]).filter(([, place]) => place >= 0))}));
    const wanted = data.wanted.map(([name, ...edges]) => ({name: names[name], edges})), all = on => on.map(n => wanted[n]);
    const table = data.rules.map(([behaviour, on, evidence]) => ({behaviour, on: all(on), evidence}));
    const workarounds = data.workarounds.map(([text, fails]) => ({text, fails: fails.map(all)}));
    const cases = data.issues.flatMap(([issue, title, rowZero, of]) => of.map(([id, needs, imports, behaviours, on, instead, waits, lengths, unimported]) => {
      const runs = [], blocked = new Set(), stretches = lengths.flatMap((kind, n) => n % 2 ? [] : Array(lengths[n + 1]).fill(kind));
      stretches.forEach((kind, place) => {
        if (kind < 0) return;
        const [behaviour, stopped, workaround] = data.kinds[kind], cell = cells[place];
        if (stopped) blocked.add(cell);
        else runs.push({cell, pins: cell.pins, behaviour, workaround});
      });
      const rules = on.map(n => table[n]), matter = distinct([...said(imports), ...namesOf(rules)]);
      return {issue, title, rowZero, id, needs: said(needs), imports: said(imports), matter, behaviours, rules, workaround: workarounds[instead], waits, runs, blocked, unimported};
    }));
    // An unknown Python comes before the known ones.
    const needed = data.needed.map(([name, edges, text, on]) => ({name: names[name], edges, text, applies: python => on[python === null ? 0 : python + 1]}));
    const metadata = Object.fromEntries(Object.entries(data.metadata).map(([name, [held, yanked, refused, requires]]) => [name, {
      held, yanked, onPython: refused.map(n => data.on_python[n]), requires: place => (requires[place] || []).map(n => needed[n]),
    }]));
    return {names, cells, cases, metadata};
  };
  return {read, PLUGIN, met, meets, firstMatch, namesOf, broken, predict, oneOf, decode};
})();
