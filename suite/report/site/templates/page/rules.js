"use strict";
// What somebody asks for, and what any stack is expected to show. Pure; a test holds it to packaging and to
// suite/judge/prediction.py.
const rules = (() => {
  const cached = make => {
    const found = new Map();
    return key => {
      if (!found.has(key)) found.set(key, make(key));
      return found.get(key);
    };
  };
  const first = orders => orders.find(each => each) || 0;
  const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  const lists = (a, b) => first(Array.from({length: Math.max(a.length, b.length)}, (_, n) => order(a[n] ?? 0n, b[n] ?? 0n)));
  const distinct = list => [...new Set(list)];

  // Versions, as PEP 440 orders them.
  const SUFFIX = "(?:[-_.]?(alpha|beta|preview|pre|a|b|c|rc)[-_.]?([0-9]*))?(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?"
    + "(?:[-_.]?(dev)[-_.]?([0-9]*))?";
  const LOCAL = "(?:\\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?";
  const VERSION = new RegExp(`^v?(?:([0-9]+)!)?([0-9]+(?:\\.[0-9]+)*)${SUFFIX}${LOCAL}$`, "i");
  const KINDS = {alpha: "a", beta: "b", c: "rc", pre: "rc", preview: "rc"};
  const version = cached(text => {
    const parts = VERSION.exec(text);
    if (!parts) return null;
    const number = digits => BigInt(digits || 0);
    const [, epoch, numbers, letter, pre, dash, post, after, dev, day, local] = parts;
    const kind = letter ? KINDS[letter.toLowerCase()] || letter.toLowerCase() : "";
    const release = numbers.split(".").map(number);
    const trimmed = release.slice(0, release.findLastIndex(each => each) + 1);
    const mended = dash || post ? number(dash || after) : -1;
    return {
      epoch: number(epoch), release, trimmed, local: (local || "").toLowerCase().replace(/[-_]/g, "."), early: Boolean(kind || dev),
      // What orders the versions of one release: pre-release, its number, post-release, development release.
      suffix: [kind ? ["a", "b", "rc"].indexOf(kind) : mended < 0 && dev ? -1 : 3, number(pre), mended, dev ? number(day) : Infinity],
      public: (number(epoch) ? `${number(epoch)}!` : "") + release.join(".") + (kind ? kind + number(pre) : "")
        + (mended < 0 ? "" : `.post${mended}`) + (dev ? `.dev${number(day)}` : ""),
    };
  });
  const compare = (a, b) => first([order(a.epoch, b.epoch), lists(a.trimmed, b.trimmed), lists(a.suffix, b.suffix)]);
  const same = (one, other) => one === other
    || (one !== undefined && !compare(version(one), version(other)) && version(one).local === version(other).local);

  // Requirements, as PEP 508 has them, less their markers.
  const bare = pattern => pattern.replace(/\((?!\?)/g, "(?:");
  const START = "\\s*v?(?:[0-9]+!)?[0-9]+";
  const CLAUSE = `(?:===\\s*[^\\s;)]*|(?:==|!=)${START}(?:\\.[0-9]+)*(?:\\.\\*|${bare(SUFFIX + LOCAL)})`
    + `|~=${START}(?:\\.[0-9]+)+${bare(SUFFIX)}|(?:<=|>=|<|>)${START}(?:\\.[0-9]+)*${bare(SUFFIX)})`;
  const [CLAUSES, ONE] = [new RegExp(`^(?:${CLAUSE}\\s*(?:,\\s*|$))*$`, "i"), new RegExp(`^${CLAUSE}$`, "i")];
  const NAME = "[a-z0-9](?:[a-z0-9._-]*[a-z0-9_])?";
  const REQUIREMENT = new RegExp(`^\\s*(${NAME})\\s*(?:\\[\\s*(?:${NAME}(?:\\s*,\\s*${NAME})*)?\\s*\\])?\\s*(.*?)\\s*$`, "i");
  const clause = text => {
    const operator = /^(===|~=|==|!=|<=|>=|<|>)/.exec(text)[0], wanted = text.slice(operator.length).trim();
    const star = operator !== "===" && wanted.endsWith(".*");
    const of = operator === "===" ? null : version(star ? wanted.slice(0, -2) : wanted);
    const key = !of || star ? wanted : [of.epoch, operator === "~=" ? of.release : of.trimmed, of.suffix, of.local].join();
    return {operator, wanted, star, of, key: operator + key, text: operator + wanted};
  };
  const requirement = cached(text => {
    const [, name, rest] = REQUIREMENT.exec(text) || [];
    if (name === undefined) return null;
    if (rest.startsWith("@")) return /^@\s*\S+$/.test(rest) ? {name, clauses: []} : null;
    const inner = /^\((.*)\)$/.exec(rest), told = inner ? inner[1].trim() : rest;
    const parts = told.split(",").map(each => each.trim()).filter(Boolean);
    if (!CLAUSES.test(told) || !parts.every(each => ONE.test(each))) return null;
    const found = new Map();
    for (const each of parts.map(clause).sort((a, b) => order(a.text, b.text))) if (!found.has(each.key)) found.set(each.key, each);
    return {name, clauses: [...found.values()]};
  });
  const within = (found, of, digits) => found.epoch === of.epoch && digits.every((each, n) => each === (found.release[n] ?? 0n));
  const meets = ({operator, wanted, star, of}, text) => {
    if (operator === "===") return text.toLowerCase() === wanted.toLowerCase();
    const found = version(text), by = compare(found, of);
    if (operator === ">=") return by >= 0;
    if (operator === "<=") return by <= 0;
    if (operator === "~=") return by >= 0 && within(found, of, of.release.slice(0, -1));
    // What came before a release, or was mended after it, is of it.
    const [kind, number, mended, dev] = of.suffix;
    if (operator === "<") return compare(found, of.early ? of : {...of, suffix: [mended < 0 ? -1 : 3, number, mended, 0n]}) < 0;
    if (operator === ">") return by > 0 && (mended >= 0 || dev !== Infinity || compare(found, {...of, suffix: [kind, number, Infinity, Infinity]}) > 0);
    return (operator === "==") === (star ? within(found, of, of.release) : !by && (!of.local || of.local === found.local));
  };
  const admits = (clauses, text) => clauses.every(each => meets(each, text));

  // A stack in somebody's words: what is typed in a box, a cell's id, requirement lines, a pasted pip freeze. Names are
  // whole names (jaxtyping is not jax), and what is not understood is said, never guessed.
  const lines = text => text.replace(/[^\n\r -~]/gu, " ").split(/\r\n|\n|\r/)
    .map(raw => raw.replace(/(^|\s)#.*|--hash=\S+|\\$/g, "").split(";")[0].trim()).filter(line => line && !line.startsWith("-"));
  const OPERATOR = /[<>!~]|==/;
  const PARTS = /\s*,?\s+(?=[A-Za-z][\w.-]*(?:\[[^\]]*\])?(?:\s*[<>=!~]|\s+(?:v?\d|newest)))|\s*,\s*(?=[A-Za-z])/;
  const read = (text, known) => {
    const versions = {}, notes = [], others = [];
    const has = each => Object.hasOwn(known, each);
    const canonical = name => name.replace(/[-_.]+/g, "-").toLowerCase();
    const named = (raw, wanted) => {
      const name = canonical(raw), found = version(wanted);
      if (!has(name)) { others.push(name); return; }
      if (!wanted) notes.push(`${name} has no version beside it, and is ignored.`);
      else if (wanted === "newest") versions[name] = known[name].at(-1);
      else if (!found) notes.push(`“${wanted}” is no version of ${name}.`);
      else {
        const of = known[name].includes(found.public) ? [] : known[name].filter(each => each.startsWith(found.public + "."));
        versions[name] = of.length ? of.at(-1) : found.public;
        if (of.length) notes.push(`${name} ${found.public} is taken as its newest, ${of.at(-1)}.`);
        else if (!known[name].includes(found.public)) notes.push(`There is no ${name} ${found.public} here: what follows of it is by rule.`);
      }
    };
    const required = line => {
      const wanted = requirement(line);
      if (!wanted) { notes.push(`“${line}” is no requirement.`); return; }
      const name = canonical(wanted.name), clauses = wanted.clauses, told = name + clauses.map(each => each.text).join();
      if (!has(name)) { others.push(name); return; }
      if (!clauses.length) { named(name, ""); return; }
      if (clauses.length === 1 && /^===?$/.test(clauses[0].operator) && !clauses[0].wanted.includes("*")) { named(name, clauses[0].wanted); return; }
      const admitted = known[name].filter(each => admits(clauses, each));
      if (!admitted.length) { notes.push(`No release here is ${told}.`); return; }
      versions[name] = admitted.at(-1);
      notes.push(`${told} is taken as its newest, ${admitted.at(-1)}.`);
    };
    const spoken = line => {
      let name = "";
      for (const word of line.match(/[^\s,=]+/g) || []) {
        if (word === "newest" || /^v?[0-9]/.test(word)) {
          if (name || !Object.keys(versions).length || word !== "newest") named(name || "jax", word.replace(/^v/, ""));
          name = "";
        } else {
          if (name) named(name, "");
          name = word.split("[")[0];
        }
      }
      if (name) named(name, "");
    };
    for (const line of lines(text)) {
      if (/^[a-z]+-[0-9][\w.]*(\+[a-z]+-[0-9][\w.]*)*$/.test(line))
        for (const part of line.split("+")) named(part.slice(0, part.indexOf("-")), part.slice(part.indexOf("-") + 1));
      else
        for (const part of OPERATOR.test(line) ? line.split(PARTS) : [line]) (OPERATOR.test(part) ? required : spoken)(part);
    }
    if (others.length) notes.push(`Not of the stack, and ignored: ${others.slice(0, 3).join(", ")}${others.length > 3 ? " …" : ""}.`);
    return {versions, notes};
  };

  // rules.predict, of a case with `needs`, all that it `imports`, `rules`, and `runs`: each has `pins` and a `behaviour`.
  const requirements = cached(on => on.split(/\s+/).filter(Boolean).map(requirement));
  const met = (on, pins, allKnown = true) => {
    let undetermined = false;
    for (const {name, clauses} of requirements(on)) {
      const pin = pins[name];
      if (pin === undefined && !allKnown) undetermined = true;
      else if (pin === undefined || !admits(clauses, pin)) return false;
    }
    return undetermined ? null : true;
  };
  const firstMatch = (table, pins) => table.find(each => met(each.on, pins));
  const possible = (table, versions) => {
    const found = [];
    for (const each of table) {
      const answer = met(each.on, versions, false);
      if (answer !== false) found.push(each);
      if (answer) return found;
    }
    return [...found, null];
  };
  const namesOf = table => table.flatMap(each => requirements(each.on).map(({name}) => name));
  const blocks = (imports, theCase) => imports.behaviour === "import-error"
    && namesOf(imports.rules).some(name => name !== "jax" && name !== "jaxlib" && theCase.imports.includes(name));
  const alike = (run, versions, matter) => matter.every(name => !(name in versions) || same(run.pins[name], versions[name]));
  const alone = list => new Set(list).size === 1;
  const nearest = (theCase, found, versions, runs) => {
    if (!("jax" in versions)) return [];
    const jax = version(versions.jax), place = each => compare(version(each.pins.jax), jax);
    const of = runs.filter(each => "jax" in each.pins && found.includes(firstMatch(theCase.rules, each.pins)));
    const alikeness = each => Object.entries(versions).filter(([name, pin]) => same(each.pins[name], pin)).length;
    const by = sign => (best, each) => {
      const nearer = best && (sign * compare(version(each.pins.jax), version(best.pins.jax)) || order(alikeness(each), alikeness(best)));
      return best && nearer <= 0 ? best : each;
    };
    return [of.filter(each => place(each) <= 0).reduce(by(1), null), of.filter(each => place(each) > 0).reduce(by(-1), null)].filter(Boolean);
  };
  const between = (versions, matter, runs) => {
    const found = [];
    for (const name of matter.filter(each => each in versions && each !== "jax").sort()) {
      const beside = runs.filter(each => name in each.pins && alike(each, versions, matter.filter(other => other !== name)));
      const by = each => compare(version(each.pins[name]), version(versions[name]));
      const ordered = beside.slice().sort((a, b) => compare(version(a.pins[name]), version(b.pins[name])));
      const [below, above] = [ordered.findLast(each => by(each) < 0), ordered.find(each => by(each) > 0)];
      if (!below || !above) continue;
      const sides = beside.filter(each => same(each.pins[name], below.pins[name]) || same(each.pins[name], above.pins[name]));
      if (sides.some(each => !alike(each, {...sides[0].pins, [name]: each.pins[name]}, matter))) continue;
      if (!alone(sides.map(each => each.behaviour))) return null;
      found.push({behaviour: sides[0].behaviour, how: "between", runs: sides, rules: [], package: name});
    }
    return alone(found.map(each => each.behaviour)) ? found[0] : null;
  };
  const predict = (theCase, versions, runs) => {
    const matter = distinct([...theCase.imports, ...namesOf(theCase.rules)]);
    const told = distinct(["jax", ...theCase.needs]).every(name => name === "jaxlib" || name in versions);
    const here = told ? runs.filter(each => alike(each, versions, matter)) : [];
    const outcomes = possible(theCase.rules, versions), found = outcomes.filter(Boolean);
    if (alone(here.map(each => each.behaviour)) && outcomes.every(each => (each && each.behaviour) === (outcomes[0] && outcomes[0].behaviour))) {
      const said = here.map(each => firstMatch(theCase.rules, each.pins)), {behaviour} = here[0];
      return {behaviour, how: "run", runs: here, rules: theCase.rules.filter(each => said.includes(each) && each.behaviour === behaviour)};
    }
    if (found.length === outcomes.length && alone(found.map(each => each.behaviour))) {
      const near = nearest(theCase, found, versions, runs), agreed = near.every(each => each.behaviour === found[0].behaviour);
      return {behaviour: agreed ? found[0].behaviour : null, how: agreed ? "by rule" : "unknown", runs: near, rules: found};
    }
    return (!found.length && told && between(versions, matter, runs)) || {behaviour: null, how: "unknown", runs: [], rules: found};
  };
  return {lines, read, same, met, namesOf, blocks, predict};
})();
