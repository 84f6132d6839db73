"use strict";
// Whether a stack installs, imports and runs: the first sentence of an answer. Pure; a test compares it with
// suite/jax_stack_compat/check/works.py and versions.py, whose functions have the same names.
// `versions` and `python` are places; an unknown Python is null.
const works = data => {
  const {known, guests, stack, imports, pythons, platform} = data, {cells, cases, metadata} = rules.decode(data);
  const zero = cases.filter(each => each.rowZero), ids = new Map(cells.map(cell => [cell.id, cell]));
  const release = (name, versions) => `${name} ${known[name][versions[name]]}`;
  const without = (versions, names) => Object.fromEntries(Object.entries(versions).filter(([name]) => !names.includes(name)));
  const only = (versions, names) => without(versions, Object.keys(versions).filter(name => !names.includes(name)));
  const inStackOrder = names => [...names].sort((left, right) => placeOf(left) - placeOf(right) || (left < right ? -1 : 1));
  const placeOf = name => stack.includes(name) ? stack.indexOf(name) : stack.length;
  const goesWrong = (theCase, behaviour) => {
    const [, stands, , isGuarded] = data.verdicts[theCase.behaviours[behaviour] || behaviour];
    return stands === "symptom" && !isGuarded;
  };
  const HOW = {run: "run", "by rule": "by rule", between: "between two runs that agree"};
  // Behaviours of row zero that need no solve.
  const AT_IMPORT = data.at_import, [IMPORT_ERROR, CRASHED] = AT_IMPORT;

  // Metadata.
  const ofPython = (name, place, python) => (python !== null && metadata[name]?.onPython[place][python]) || "";
  const refusals = (versions, python) => {
    const told = new Map();
    for (const name of inStackOrder(Object.keys(versions).filter(each => metadata[each]))) {
      const needed = metadata[name].requires(versions[name]);
      const unmet = needed.filter(each => each.applies(python) && each.name in versions && !rules.meets(each, versions))
        .map(each => `requires ${each.text}, and ${known[each.name][versions[each.name]]} is here`);
      for (const why of [ofPython(name, versions[name], python), ...unmet].filter(Boolean)) {
        const sentence = `${release(name, versions)} ${why}`, what = ["jax", "jaxlib"].includes(name) ? why : sentence;
        if (!told.has(what)) told.set(what, sentence);
      }
    }
    return [...told.values()];
  };
  const admits = (name, place, python) => !metadata[name].yanked.includes(place) && !ofPython(name, place, python);
  const newerJaxlib = versions => "jax" in versions && versions.jaxlib >= data.jaxlibs_up_to[versions.jax];
  const unusedPlugins = (plugins, versions) => "jaxlib" in versions
    ? Object.entries(plugins).filter(([, version]) => version !== known.jaxlib[versions.jaxlib]).map(([name, version]) => `${name} ${version}`) : [];

  // The versions to look up: those given, and those that an installer gives with them.
  const withJaxlib = versions => "jaxlib" in versions || !("jax" in versions) || data.jaxlibs[versions.jax] < 0
    ? versions : {jaxlib: data.jaxlibs[versions.jax], ...versions};
  const newestJax = (given, python) => {
    if (![...stack, ...guests].some(name => name in given)) return {};
    const place = known.jax.findLastIndex((_, jax) => data.jaxlibs[jax] >= 0 && !refusals({...given, jax}, python).length);
    return place < 0 ? {} : {jax: place};
  };
  const assumed = (given, python, unsaid) => {
    const jax = "jax" in given || unsaid.includes("jax") ? {} : newestJax(given, python), there = {...jax, ...given};
    const lacking = [...Object.keys(there).flatMap(name => imports[name] || []), "numpy"].filter(name => !(name in there) && !unsaid.includes(name));
    const days = Object.keys(there).map(name => ids.get(release(name, there).replace(" ", "-"))).filter(Boolean);
    const day = cells.findLast(cell => days.includes(cell));
    if (!lacking.length || !day || !("jax" in there)) return jax;
    const chosen = {...there};
    for (const name of [...stack, "numpy"].filter(each => lacking.includes(each) && each in day.pins)) {
      const refused = refusals(chosen, python), fits = place => refusals({...chosen, [name]: place}, python).every(why => refused.includes(why));
      const place = known[name].findLastIndex((_, each) => each <= day.pins[name] && fits(each));
      if (place >= 0) chosen[name] = place;
    }
    return without(chosen, Object.keys(given));
  };
  const lookedUp = (given, python, unsaid) => {
    const guessed = assumed(given, python, unsaid), asked = withJaxlib({...guessed, ...given});
    const named = without(asked, Object.keys(guessed).filter(name => !stack.includes(name)));
    const leftOut = refusals(only(asked, ["jax", "jaxlib"]), null).length ? ["jax", "jaxlib"] : [];
    return {pins: without(asked, leftOut), named, assumed: guessed};
  };

  // Row zero, the rest of the stack, and guests.
  const stopping = (found, versions) => {
    const names = rules.namesOf(found.rules).filter(name => name in versions && name !== "jaxlib");
    return found.behaviour === IMPORT_ERROR ? (names.length ? names : ["jax"]) : found.behaviour === CRASHED ? names : [];
  };
  const stopped = (names, found, versions) => {
    const subject = stack.findLast(name => names.includes(name)) || "jax";
    const others = inStackOrder(names.filter(name => name !== subject)), beside = others.length ? others : ["jax"];
    const there = beside.includes(subject) ? "" : ` beside ${beside.map(name => release(name, versions)).join(" and ")}`;
    return `${release(subject, versions)} ${found.behaviour === CRASHED ? "crashes" : "does not import"}${there} (${HOW[found.how]})`;
  };
  const ofRowZero = versions => {
    const found = new Set();
    for (const each of zero) {
      const told = rules.predict(each, versions, each.runs);
      if (told.behaviour === null || !goesWrong(each, told.behaviour)) continue;
      const names = stopping(told, versions);
      if (names.length) found.add(stopped(names, told, versions));
      else if (each.needs.every(name => name in versions)) found.add(`${each.id.replaceAll("-", " ")} fails (${told.behaviour}, ${HOW[told.how]})`);
    }
    return [...found];
  };
  const weakest = found => found.every(each => each.how === "run") ? "run" : "by rule";
  const ran = (name, versions) => {
    const wanted = Object.entries(only(versions, [...stack, "numpy"]));
    const there = new Set(cells.filter(cell => wanted.every(([other, place]) => cell.pins[other] === place)));
    return cases.some(each => each.imports.includes(name) && each.runs.some(run => there.has(run.cell) && !AT_IMPORT.includes(run.behaviour)));
  };
  const isGood = (theCase, versions) => {
    const rule = rules.firstMatch(theCase.rules, versions);
    return rule !== null && !goesWrong(theCase, rule.behaviour);
  };
  const ofStack = versions => {
    const names = stack.filter(name => name in versions && name !== "jaxlib");
    if (!names.includes("jax") || !zero.length) return "";
    if (zero.every(each => each.needs.every(name => name in versions))) {
      const found = zero.map(each => rules.predict(each, versions, each.runs));
      if (found.every(each => each.behaviour !== null)) return `Imports and solves (${weakest(found)}; ${platform})`;
    }
    if (names.every(name => ran(name, versions))) return `Imports and computes (run; ${platform})`;
    return zero.every(each => isGood(each, versions)) ? `Imports and computes (by rule; ${platform})` : "";
  };
  const importing = (guest, versions) => {
    const own = cases.filter(each => each.needs.includes(guest));
    const imports = place => own.every(each => !(rules.firstMatch(each.rules, {...versions, [guest]: place})?.behaviour in each.unimported));
    const place = known[guest].findIndex((_, each) => each > versions[guest] && imports(each));
    return place < 0 ? "" : `; good: ${guest} ${known[guest][place]}`;
  };
  const ofGuest = (guest, versions) => {
    const told = cases.filter(each => each.needs.includes(guest)).map(each => [each, rules.predict(each, versions, each.runs)])
      .filter(([, found]) => found.behaviour !== null);
    if (!told.length) return null;
    const verbs = [...new Set(told.filter(([each, found]) => !goesWrong(each, found.behaviour)).map(([, found]) => found.behaviour))];
    const failing = new Map(told.filter(([each, found]) => found.behaviour in each.unimported).map(([each, found]) => [each.unimported[found.behaviour], found]));
    const own = release(guest, versions), beside = "jax" in versions ? `beside ${release("jax", versions)}` : "beside ", all = weakest(told.map(([, found]) => found));
    if (!verbs.length && failing.size) return {fails: true, words: `${own} does not import ${beside} (${weakest([...failing.values()])})`};
    if (!verbs.length) return {fails: true, words: `${own} fails ${beside} (${told.map(([, found]) => found.behaviour).join(", ")}, ${all})`};
    const does = `${["imports", ...verbs.slice(0, -1)].join(", ")} and ${verbs.at(-1)}`, good = importing(guest, versions);
    const modules = [...failing].map(([module, found]) => `${module} does not import (${HOW[found.how]}${good})`);
    return {fails: false, words: [`${own} ${does} (${all})`, ...modules].join("; ")};
  };

  // The nearest releases with which a stack works.
  const isWell = (versions, python) => {
    if (newerJaxlib(versions) || refusals(versions, python).length) return false;
    if (!Object.keys(versions).every(name => !metadata[name]?.held || admits(name, versions[name], python))) return false;
    return cases.every(each => {
      const isWhole = each.needs.every(name => name in versions);
      if (!each.rowZero && !(isWhole && each.needs.some(name => guests.includes(name)))) return true;
      const rule = rules.firstMatch(each.rules, versions);
      if (!isWhole && !AT_IMPORT.includes(rule?.behaviour)) return true;
      return rule !== null && !goesWrong(each, rule.behaviour);
    });
  };
  const cured = (of, python, unsaid, name, place) => {
    const moved = withJaxlib({...(name === "jax" ? without(of.named, ["jaxlib"]) : of.named), [name]: place});
    if (isWell(moved, python)) return moved;
    if (name in of.assumed || !stack.some(each => each in of.assumed)) return null;
    const other = lookedUp(without(moved, Object.keys(of.assumed)), python, unsaid).named;
    return isWell(other, python) ? other : null;
  };
  const howKnown = versions => {
    const telling = cases.filter(each => each.rowZero || each.needs.some(name => guests.includes(name)));
    const whole = telling.filter(each => each.needs.every(name => name in versions));
    const names = stack.filter(name => name in versions && name !== "jaxlib");
    return names.every(name => ran(name, versions)) ? weakest(whole.map(each => rules.predict(each, versions, each.runs))) : "by rule";
  };
  const nearest = (of, python, unsaid) => {
    const here = of.named, own = {...here, jaxlib: "jax" in here ? data.jaxlibs[here.jax] : -1}, newer = {}, older = {};
    if (own.jaxlib >= 0 && own.jaxlib !== here.jaxlib && isWell(own, python)) newer.jaxlib = own;
    const first = (found, name, places) => {
      for (const place of places) {
        const pins = cured(of, python, unsaid, name, place);
        if (pins) { found[name] = pins; return; }
      }
    };
    for (const name of [...guests, ...[...stack].reverse(), "numpy"].filter(each => each !== "jaxlib" && each in here)) {
      const places = known[name].map((_, place) => place);
      first(newer, name, places.filter(place => place > here[name]));
      first(older, name, places.filter(place => place < here[name]).reverse());
    }
    const nearby = [...Object.entries(newer), ...Object.entries(older).filter(([name]) => !(name in newer))];
    return nearby.slice(0, 2).map(([name, pins]) => `${release(name, pins)} (${howKnown(pins)})`);
  };
  const toPin = (of, python) => {
    if (!("numpy" in of.assumed)) return "";
    const newest = known.numpy.findLastIndex((_, numpy) => admits("numpy", numpy, python) && !refusals({...of.named, numpy}, python).length);
    const broken = newest < 0 ? [] : ofRowZero({...of.pins, numpy: newest});
    return !broken.length || ofRowZero(of.pins).length ? ""
      : `Pin numpy: an installer gives ${known.numpy[newest]}, and ${broken[0]}; ${release("numpy", of.assumed)} is good`;
  };
  const spanned = list => `Python ${list[0]}${list.length > 1 ? ` to ${list.at(-1)}` : ""}`;

  // The judgement of versions, on a Python or null, with plugins for a GPU, beside packages without a known version; the
  // guests among these are `outside`.
  const judged = (given, python, plugins = {}, unsaid = [], outside = []) => {
    const of = lookedUp(given, python, unsaid), refused = refusals(of.named, python), broken = ofRowZero(of.pins);
    const well = broken.length ? [] : [ofStack(of.pins)].filter(Boolean), unsure = [];
    for (const guest of guests.filter(name => name in of.pins)) {
      const told = ofGuest(guest, of.pins);
      if (told === null) unsure.push(release(guest, of.pins));
      else (told.fails ? broken : well).push(told.words);
    }
    if (!refused.length && newerJaxlib(of.named)) broken.push(`${release("jax", of.named)} does not import beside ${release("jaxlib", of.named)}, which is newer`);
    const instead = refused.length || broken.length ? nearest(of, python, unsaid) : [];
    const held = Object.keys(of.named).filter(name => metadata[name]?.held);
    const others = pythons.filter((_, each) => held.every(name => admits(name, of.named[name], each)));
    if (refused.length && python !== null && !broken.length && others.length) instead.push(spanned(others));
    const unused = unusedPlugins(plugins, of.named);
    if (unused.length) {
      const jaxlib = known.jaxlib[of.named.jaxlib];
      broken.push(`jaxlib ${jaxlib} does not use ${unused.join(" and ")}, of another release`);
      instead.push(unused.map(each => `${each.split(" ")[0]} ${jaxlib}`).join(" with "));
    }
    const fails = refused.length + broken.length > 0, pin = toPin(of, python), lost = [...unsure, ...outside];
    const sentence = [
      refused.length ? `This stack does not install: ${refused.join("; ")}.` : "", broken.length ? `This stack does not work: ${broken.join("; ")}.` : "",
      well.length && !fails ? `${well.join("; ")}.` : "", instead.length ? `Good: ${instead.join(" or ")}.` : "",
      lost.length ? `Not known: ${lost.join(", ")}.` : "", pin ? `${pin}.` : "",
    ].filter(Boolean).join(" ");
    return {refused, broken, well, fails, sentence};
  };
  return {judged, lookedUp};
};
