"use strict";
// The search of the box: results for a text, best first. Pure. A test compares it with `find` and `explain`, which are
// suite/jax_stack_compat/check/find and suite/jax_stack_compat/check/explain.
const matcher = index => {
  const VERSION = /^v?\d+(?:\.\d+)+$/, NUMBER = /^v?(\d+(?:\.\d+)*)$/, PINNED = /^([a-z][a-z_-]*)==?v?(\d[\w.]*)$/;
  const CELL = /^[a-z_-]+-\d[\w.]*(?:\+[a-z_-]+-\d[\w.]*)*$/, OF_CELL = /(?<![a-z_-])([a-z_-]+)-(\d[\w.]*)/g;
  const THREAD = /(?:\b([a-z][\w.-]{0,99}))?(?:#|\/issues\/|\/pull\/|\/discussions\/)(\d{2,6})\b(?!\.)/g;
  const PRINTED = /\n|(?:Error|Exception|Warning)\b/, NAME = /^[a-z_][\w.]*=?$/;
  const FLAG = /^[A-Za-z0-9.=-]*(?:_[A-Za-z0-9.=-]*){2,}$/, MOST_WORDS = 100;
  const MOST_CHARS = 300, MOST_FUNCTIONS = 2, SYNONYM = 0.5, HEARD = 0.75, BEGINS = 12, AFFECTED = 6, WHOLE = 20;
  const packages = new Set(index.packages), releases = new Set(index.releases), common = new Set(index.common);
  const has = Object.hasOwn, of = (object, key, otherwise) => has(object, key) ? object[key] : otherwise;
  const trimmed = (text, mark) => text.endsWith(mark) ? text.slice(0, -mark.length) : text;

  // Words.
  const flat = text => text.toLowerCase().replace(/[‘’“”"`]/g, "'").replace(/\s+/g, " ").trim();
  // A pattern with \.+$ would take quadratic time.
  const undotted = word => {
    let from = 0, to = word.length;
    while (word[from] === ".") from++;
    while (to > from && word[to - 1] === ".") to--;
    return word.slice(from, to);
  };
  const words = text => flat(text).split(/[^a-z0-9_.=#]+/).map(undotted).filter(Boolean);
  const stem = word => word.length > 4 ? word.replace(/(?:ers?|ed|ing|es|s|e)$/, "") : word;
  const alike = word => [stem(word), ...of(index.synonyms, stem(word), [])];
  const whole = name => {
    const dot = name.indexOf(".");
    if (dot < 0) return name;
    const first = name.slice(0, dot);
    return of(index.aliases, first, of(index.short, first, first)) + name.slice(dot);
  };
  const numbers = version => (version.match(/\d+/g) || []).map(Number);
  const compared = (one, other) => {
    const [first, second] = [numbers(one), numbers(other)];
    for (let place = 0; place < Math.max(first.length, second.length); place++) {
      const difference = (first[place] || 0) - (second[place] || 0);
      if (difference) return Math.sign(difference);
    }
    return 0;
  };
  const ORDERS = {"<": by => by < 0, "<=": by => by <= 0, ">": by => by > 0, ">=": by => by >= 0, "==": by => by === 0, "!=": by => by !== 0};
  const meets = (version, clause) => {
    const [, operator, limit] = /^(<=|>=|==|!=|~=|<|>)(.*)$/.exec(clause) || [];
    return has(ORDERS, operator) && ORDERS[operator](compared(version, trimmed(limit, ".*")));
  };
  const admits = (on, versions) => on.split(" ").every(requirement => {
    const [, name, clauses] = /^([\w.-]+?)((?:[<>=!~].*)?)$/.exec(requirement);
    return has(versions, name) && clauses.split(",").every(clause => !clause || meets(versions[name], clause));
  });

  // The question: terms without versions, and the versions.
  const pins = (token, after) => {
    const pinned = PINNED.exec(token), number = NUMBER.exec(after);
    if (pinned && packages.has(pinned[1])) return [[pinned[1], pinned[2]]];
    if (packages.has(token) && number) return [[token, number[1]]];
    if (CELL.test(token)) return [...token.replaceAll("+", " ").matchAll(OF_CELL)].map(found => [found[1], found[2]]).filter(([name]) => packages.has(name));
    return VERSION.test(token) && releases.has(`jax-${token.replace(/^v/, "")}`) ? [["jax", token.replace(/^v/, "")]] : [];
  };
  const withoutVersions = (part, versions) => {
    const tokens = flat(part).replace(/[?!]+|\.(?=\s|$)/g, " ").split(" ").filter(Boolean), kept = [];
    for (let place = 0; place < tokens.length; place++) {
      const found = pins(tokens[place], tokens[place + 1] || "");
      for (const [name, version] of found) versions[name] = version;
      if (found.some(([name]) => name === tokens[place])) place++;
      else if (!found.length && !VERSION.test(tokens[place])) kept.push(tokens[place]);
    }
    return kept.join(" ");
  };
  const asked = given => {
    const text = given.trim(), isPrinted = PRINTED.test(text), versions = {};
    if (isPrinted || text.length > MOST_CHARS) return {text, terms: [], versions, isPrinted};
    const parts = text.split(/[,;]+/).map(part => withoutVersions(part, versions)).filter(Boolean);
    const listed = parts.every(part => part.split(/\s+/).length < 4);
    return {text, terms: listed ? parts : [parts.join(" ")], versions, isPrinted};
  };
  const threads = text => {
    const said = flat(text);
    return /^\d{3,6}$/.test(said) ? [["", said]] : [...said.matchAll(THREAD)].map(found => [found[1] || "", found[2]]);
  };

  // Exceptions in a text.
  const ANSI = /(?:\x1b|\u241b|\^\[)\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]|\[(?:\d{1,3};)*\d{1,3}m/g;
  const MARGIN = /^[ \t]*(?:E(?=\s)|>|[|│]|\+-)[ \t]*/gm;
  const CLASS = /(?<![\w.#/])(?:[A-Za-z_]\w*\.)*(?<type>[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit))(?:(?<message>:(?=\s|$))|(?=[ \t]*$))/gm;
  const SOURCE = /\b(?:except|class)\s[\w., (\s]*$/;
  const CHAINED = /^(?:During handling of the above|The above exception was|The stack trace below|Traceback \(most recent|-{20,})/gm;
  const FILE = /(?<![\w~.…:@+/\\-])[\w~.…:@+/\\-]*[/\\][\w-]+\.py\b/g;
  const INSTALLED = /^(?:.*(?:site|dist)-packages\/|.*\/(?=(?:jax|equinox|lineax|optimistix|diffrax)\/(?:_|internal\/|nn\/)))/;
  const CARRIERS = ["XlaRuntimeError", "JaxRuntimeError"], MOST_CARRIERS = 200, MOST_CARRIED = 20_000, MOST_RAISED = 200, MOST_FILES = 2_000;
  const LONGEST = 1_000_000;
  const ended = text => text.length <= LONGEST ? text : text.slice(0, LONGEST / 2) + text.slice(-LONGEST / 2);
  const plain = text => ended(text).replace(ANSI, "").replace(/[‘’“”"`]/g, "'");
  const oneLine = text => text.replace(/\s+/g, " ").trim();
  const classes = said => [...said.matchAll(CLASS)].filter(match => {
    const line = said.slice(Math.max(match.index - 200, 0), match.index).split("\n").pop();
    return !SOURCE.test(line) && (match.groups.message || !line.trim());
  });
  const raised = text => {
    const said = plain(text).replace(MARGIN, ""), found = classes(said), told = new Map();
    const chains = [...[...said.matchAll(CHAINED)].map(each => each.index), said.length];
    let last = 0, carriers = 0, chain = 0;
    found.forEach((match, number) => {
      const from = match.index + match[0].length, type = match.groups.type;
      let end = number + 1 === found.length ? said.length : found[number + 1].index;
      if (CARRIERS.includes(type) && carriers++ < MOST_CARRIERS) end = Math.max(end, from + MOST_CARRIED);
      while (chains[chain] < from) chain++;
      end = Math.min(end, chains[chain]);
      const message = match.groups.message ? oneLine(said.slice(from, end)) : "";
      // The character before, if any, decides where a path begins.
      const before = Math.max(last - 1, 0), places = [...said.slice(before, match.index).matchAll(FILE)].filter(each => before + each.index >= last);
      const files = places.slice(-MOST_FILES).map(each => each[0].replaceAll("\\", "/"));
      const error = {type, message, files, said: oneLine(said.slice(last, end))};
      told.set(JSON.stringify(error), error);
      last = from;
    });
    const once = [...told.values()];
    return once.length <= MOST_RAISED ? once : [...once.slice(0, MOST_RAISED / 2), ...once.slice(-MOST_RAISED / 2)];
  };
  const packageOf = file => INSTALLED.test(file) ? file.replace(INSTALLED, "").split("/")[0] : "";
  const isThrough = (error, module) => {
    const path = module.replaceAll(".", "/");
    return error.files.some(file => `/${file.replace(INSTALLED, "")}`.endsWith(`/${path}.py`) || `/${file.replace(INSTALLED, "")}`.includes(`/${path}/`));
  };

  // Signatures.
  const GENERAL = new Set(index.general), SAME = {JaxRuntimeError: "XlaRuntimeError"}, KEYWORD = "unexpected keyword argument", MOST_OF_RARE = 3;
  const PHRASES = new RegExp(index.phrases, "gi"), CALL = /\b(\w+)\(\) got an unexpected keyword argument '(\w+)'/;
  const withoutPhrases = text => text.replace(PHRASES, " ");
  const count = text => (text.match(/[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])/g) || []).length;
  const telling = text => count(withoutPhrases(text));
  const escaped = text => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  const lastPart = name => name.split("(")[0].split(".").pop();
  const last = issue => issue.last ||= new Set(issue.own.map(lastPart).filter(name => !name.startsWith("__")));
  const patterns = new Map();
  // The pieces of a message, in order: one pattern for all would take quadratic time.
  const pieces = message => {
    if (patterns.has(message)) return patterns.get(message);
    const said = plain(message).replace(/\s+/g, " ");
    let found = said.split("…").map(escaped);
    if (said.startsWith("unhashable")) found = found.map(piece => piece.replace(/'(?:dict|list|set)'/g, "'(?:dict|list|set)'"));
    if (/^[a-z0-9]/i.test(said)) found[0] = "(?<!\\w)" + found[0];
    patterns.set(message, found.map(piece => new RegExp(piece, "g")));
    return patterns.get(message);
  };
  const says = (text, message) => {
    let at = 0;
    return pieces(message).every(piece => {
      piece.lastIndex = at;
      const found = piece.exec(text);
      at = piece.lastIndex;
      return found !== null;
    });
  };
  const isConcerned = (issue, signed, error, rare) => {
    const innermost = ["", ...error.files.map(packageOf).filter(name => name !== "jax")].pop();
    if (issue.row_zero) return index.on_jax.includes(innermost);
    if (innermost === (signed.about || "jax")) return true;
    if (issue.known_by) return new RegExp(issue.known_by).test(error.said);
    return rare.some(name => new RegExp(`\\b${escaped(name)}\\b`).test(error.said));
  };
  const scoreOf = (issue, signed, error, rare) => {
    const {type, message = "", module = ""} = signed;
    if (of(SAME, type, type) !== of(SAME, error.type, error.type)) return 0;
    const own = !GENERAL.has(type), many = count(message);
    if ((error.message || !own) && !((many > 1 || own) && says(error.message, message))) return 0;
    if (!(signed.guests || []).every(guest => error.said.includes(guest))) return 0;
    const through = Boolean(module) && ((module.includes(".") && error.message.includes(module.replace("._src", ""))) || isThrough(error, module));
    if (module && !through && (error.files.length || !own)) return 0;
    if (message.includes(KEYWORD) && telling(message) === 0) {
      const call = CALL.exec(error.message);
      if (!call || !last(issue).has(call[1])) return 0;
    }
    const everyday = Boolean(signed.everyday) || has(index.ordinary, type);
    if ((everyday || issue.row_zero) && !isConcerned(issue, signed, error, rare)) return 0;
    if (everyday && issue.row_zero && !module) return 0;
    const unlike = issue.known_by && !everyday && !new RegExp(issue.known_by).test(error.said);
    return Math.min(many, 10) + 5 * own + 3 * through - Boolean(unlike);
  };
  const concerned = new Map();
  for (const issue of index.issues) {
    issue.own = issue.names.map(number => index.names[number]);
    issue.stems = new Set(issue.words.split(" "));
    issue.told = new Set((issue.heard || "").split(" ").filter(Boolean));
    for (const name of last(issue)) concerned.set(name, (concerned.get(name) || 0) + 1);
  }
  for (const timing of index.timings) timing.stems = new Set(timing.words.split(" "));
  const shownBy = signed => `${signed.type}${signed.message ? `: ${signed.message}` : ""}`;
  const bySignature = (issue, told) => {
    const rare = [...last(issue)].filter(name => concerned.get(name) <= MOST_OF_RARE);
    let best = [0, ""];
    for (const signed of issue.signed || []) for (const error of told) {
      const score = scoreOf(issue, signed, error, rare);
      if (score > best[0]) best = [score, shownBy(signed)];
    }
    return best[0] ? [100 + best[0], best[1]] : best;
  };

  // Issues.
  const isWithin = (message, text) => {
    let at = 0;
    return message.split("…").map(piece => piece.trim()).every(piece => {
      const found = text.indexOf(piece, at);
      at = found + piece.length;
      return found >= 0;
    });
  };
  const byPhrase = (issue, question) => {
    const text = flat(question.text);
    let best = [0, ""];
    if (question.isPrinted || text.length < 8 || telling(text) < 2) return best;
    for (const signed of issue.signed || []) {
      const {message = ""} = signed, said = shownBy(signed);
      const isWhole = !signed.everyday && !signed.module && telling(message) > 1 && isWithin(flat(message), text);
      const score = isWhole ? 80 : flat(said).includes(text) ? 70 : 0;
      if (score > best[0]) best = [score, said];
    }
    return best;
  };
  const byThread = (refs, wanted) => {
    const place = refs.findIndex(ref => {
      const [repository, number] = ref.split("#");
      return wanted.some(([repo, wantedNumber]) => wantedNumber === number && (repo === "" || repo === repository.split("/").pop().toLowerCase()));
    });
    return place < 0 ? [0, ""] : [90 - place / 100, refs[place]];
  };
  const byName = (issue, term) => {
    const wanted = whole(term).split("(")[0];
    if (wanted.length < 3 || !NAME.test(wanted)) return [0, ""];
    for (const name of issue.own) {
      const said = flat(name);
      if (said === wanted) return [60, name];
      if (said.startsWith(`${wanted}.`) || said.endsWith(`.${wanted}`) || said.includes(`(${wanted}`)) return [50, name];
    }
    return [0, ""];
  };
  const hit = (word, known) => known.has(stem(word)) ? 1 : alike(word).some(each => known.has(each)) ? SYNONYM : 0;
  const share = (term, counts, isDated) => {
    const wanted = words(withoutPhrases(term)).filter(word => word.length > 1 && !common.has(word) && word !== "jax" && word !== "jaxlib");
    const hits = wanted.map(counts), enough = wanted.length > (isDated ? 2 : 3) ? wanted.length / 2 : wanted.length;
    if (!wanted.length || hits.filter(Boolean).length < enough) return 0;
    const part = 10 * hits.reduce((sum, each) => sum + each, 0) / wanted.length;
    return hits.every(Boolean) ? WHOLE + part : part;
  };
  const isDated = question => Object.keys(question.versions).length > 0;
  const isOf = (word, named) => packages.has(word) || has(index.aliases, word) ? Number(named.includes(of(index.aliases, word, word))) : null;
  const best = (question, counts) => Math.max(0, ...question.terms.map(term => share(term, counts, isDated(question))));
  const byWords = (issue, question) => [best(question, word => isOf(word, issue.packages) ?? Math.max(hit(word.split(".").pop(), issue.stems), HEARD * hit(word.split(".").pop(), issue.told))), ""];
  const meetsRules = (issue, question) => (issue.rules || []).some(on => admits(on, question.versions));
  const placed = (issue, question) => {
    const {versions} = question, own = (issue.spans || []).filter(([name]) => has(versions, name));
    const there = own.filter(([name, first, end]) => compared(versions[name], first) >= 0 && compared(versions[name], end) <= 0);
    if (there.some(([name, first]) => compared(versions[name], first) === 0)) return BEGINS;
    if (there.length || meetsRules(issue, question)) return AFFECTED;
    return own.length ? -1 : 0;
  };
  const issues = question => {
    const told = raised(question.text), wanted = threads(question.text);
    return index.issues.flatMap(issue => {
      const found = [byPhrase(issue, question), byThread(issue.threads, wanted), bySignature(issue, told), ...question.terms.map(term => byName(issue, flat(term)))];
      let [score, why] = found.reduce((one, other) => other[0] > one[0] ? other : one);
      const said = byWords(issue, question), at = placed(issue, question);
      const bySaid = said[0] > score && at >= 0, partial = bySaid && said[0] < WHOLE;
      if (bySaid) [score, why] = said;
      if (!score && !question.terms.length && Object.keys(question.versions).length > 1 && meetsRules(issue, question)) score = 40;
      return score ? [{kind: "issue", id: issue.id, why, score: score + Math.max(at, 0), partial}] : [];
    });
  };
  const timings = question => index.timings.flatMap(timing => {
    const version = question.versions.jax || "";
    if (version && (compared(version, timing.since) < 0 || (timing.until && compared(version, timing.until) >= 0))) return [];
    const at = version ? compared(version, timing.since) === 0 ? BEGINS : AFFECTED : 0;
    const score = Math.max(byThread(timing.threads, threads(question.text))[0], best(question, word => isOf(word, timing.packages) ?? hit(word, timing.stems)));
    return score ? [{kind: "timing", id: timing.id, why: "", score: score + at}] : [];
  });
  const refuted = question => index.refuted.flatMap(([ref, claim], number) => {
    const said = new Set(words(claim).map(stem)), text = question.terms.join(" ") || question.text;
    const score = question.isPrinted ? 0 : share(text, word => Number(said.has(stem(word))), false);
    return score || byThread([ref], threads(question.text))[0] ? [{kind: "refuted", id: String(number + 1), why: "", score: 0}] : [];
  });
  const known = new Map(Object.entries(index.numbers).flatMap(([module, names]) => names.map(name => [`${module}.${name}`.toLowerCase(), `${module}.${name}`])));
  const functions = question => question.terms.flatMap(term => {
    const wanted = whole(flat(term)).split("(")[0];
    if (wanted.length < 3 || !NAME.test(wanted)) return [];
    const own = known.has(wanted) ? [wanted] : [...known.keys()].filter(name => name.endsWith(`.${wanted}`));
    return own.slice(0, MOST_FUNCTIONS).map(name => ({kind: "function", id: known.get(name), why: "", score: 0}));
  });
  const releasesOf = question => Object.entries(question.versions).map(([name, version]) => `${name}-${version}`)
    .filter(id => releases.has(id)).map(id => ({kind: "release", id, why: "", score: 0}));
  const sorted = found => found.sort((one, other) => other.score - one.score);
  const ranked = text => {
    const found = rankedWhole(text), flags = found.length ? [] : text.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS).filter(word => FLAG.test(word));
    const first = flags.map(rankedWhole).find(each => each.length) || [];
    return found.length ? found : first.map(result => ({...result, partial: true}));
  };
  const rankedWhole = text => {
    const question = asked(text);
    return [...releasesOf(question), ...functions(question), ...sorted(timings(question)), ...sorted(issues(question)), ...refuted(question)];
  };

  // Missing names and arguments, by data/names-….js; and ordinary mistakes.
  const MISSING = new RegExp(index.missing, "g"), REFUSED = /\b(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'/g;
  const missing = text => [...plain(text).matchAll(MISSING)].map(({groups: found}) =>
    [found.module || found.said || `${found.of || found.source}.${found.name || found.imported}`, Boolean(found.module)]);
  const lifeOf = (package_, spans) => spans.split(" ").map(span => {
    const [first, end] = span.split("-").map(Number), start = first === 0 ? `${package_.releases[0]} (or older)` : package_.releases[first];
    return first === end ? start : `${start} to ${package_.releases[end]}`;
  }).join(", ");
  const grouped = (groups, name) => Object.keys(groups || {}).find(spans => groups[spans].split(" ").includes(name));
  const nameSentences = (text, data) => [...new Map(missing(text).map(each => [each.join(), each])).values()].flatMap(([name, isModule]) => {
    const first = name.split(".")[0], known = of(data, first, null), at = name.lastIndexOf(".");
    if (!known) return [];
    const asModule = grouped(known.modules[""], name), own = isModule || at < 0 ? undefined : grouped(of(known.modules, name.slice(0, at)), name.slice(at + 1));
    const spans = own ?? (isModule || !known.whole.includes(name) ? asModule : undefined);
    if (!spans) return [];
    const beside = has(index.guests, name) ? `Used by ${index.guests[name].join(" and ")}.` : "";
    return [{kind: "name", id: name, told: [`${name} exists on ${first} ${lifeOf(known, spans)}.`, of(known.told, name), beside].filter(Boolean).join(" ")}];
  });
  const argumentSentences = (text, data) => {
    const asked = new Map([...plain(text).matchAll(REFUSED)].map(found => [found[1], found[2]]).map(each => [each.join(), each]));
    return [...asked.values()].flatMap(([name, keyword]) => of(of(data.arguments || {}, name, {}), keyword, []).map(([called, told]) => ({kind: "argument", id: `${called}(${keyword}=)`, told})));
  };
  const ordinary = text => [...new Set(raised(text).map(error => error.type))].filter(type => has(index.ordinary, type))
    .map(type => ({kind: "mistake", id: type, told: `${type}: ${index.ordinary[type]}.`, page: index.errors_page + type}));
  const needed = text => {
    const names = missing(text).map(([name]) => name.split(".")[0]).filter(name => index.named.includes(name));
    return [...new Set([...names, ...(index.named.length && text.search(REFUSED) >= 0 ? ["arguments"] : [])])];
  };
  const sentences = (text, data) => {
    const own = [...nameSentences(text, data), ...argumentSentences(text, data)];
    return ranked(text).some(result => result.kind === "issue") ? own : [...own, ...ordinary(text)];
  };
  return {ranked, sentences, needed, asked, flat, words, threads, packages, byName: (issue, term) => byName(issue, flat(term))[0] > 0,
    byWords: (issue, term) => byWords(issue, {terms: [term], versions: {}})[0] > 0};
};
if (typeof module !== "undefined") module.exports = {matcher};
