"use strict";
// The box of the front page: a symptom, a function, a thread, a release, or versions. It only links to the pages.
(() => {
  const box = document.getElementById("search"), results = document.getElementById("results");
  const SHORT = {...SEARCH.aliases, jnp: "jax.numpy", jr: "jax.random", jrandom: "jax.random", lax: "jax.lax", jtu: "jax.tree_util"};
  const ENDING = /(?:ers?|ed|ing|es|s|e)$/;
  const MOST = 12;
  const packages = new Set(SEARCH.packages);

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const flat = text => text.toLowerCase().replace(/[‘’“”'"`]/g, "'").replace(/\s+/g, " ").trim();
  const words = text => flat(text).split(/[^a-z0-9_.=#]+/).map(word => word.replace(/^\.+|\.+$/g, "")).filter(Boolean);
  const stem = word => word.length > 4 ? word.replace(ENDING, "") : word;
  const whole = name => name.replace(/^[a-z]+(?=\.)/, first => SHORT[first] || first);

  for (const issue of SEARCH.issues) {
    issue.stems = new Set([issue.title, issue.id.replaceAll("-", " "), issue.kind, ...issue.areas, ...issue.cases.map(each => each.join(" ").replaceAll("-", " "))]
      .flatMap(words).map(stem));
    issue.touches = issue.touches.map(n => SEARCH.names[n]);
    issue.names = issue.touches.map(flat);
  }

  // Each matcher returns a score and the matching text, or [0].
  const bySymptom = (issue, text) => issue.symptoms.map(([type, message]) => {
    const pieces = flat(message).split("…").map(each => each.trim()).filter(Boolean);
    let at = 0;
    const there = pieces.every(piece => (at = text.indexOf(piece, at)) >= 0 && (at += piece.length));
    const named = text.includes(type.toLowerCase());
    const part = text.length > 7 && flat(`${type}: ${message}`).includes(text);
    const score = pieces.length && there && message.length > 7 ? 80 + 20 * named : part ? 70 : named && !pieces.length ? 30 : 0;
    return [score, `${type}${message ? `: ${message}` : ""}`];
  }).sort((a, b) => b[0] - a[0])[0] || [0];
  const byThread = (issue, text) => {
    const wanted = [...text.matchAll(/(?:#|issues\/|pull\/|^)(\d{2,6})\b(?!\.)/g)].map(each => each[1]);
    const found = issue.threads.find(ref => wanted.includes(ref.split("#")[1]));
    return found ? [90, found] : [0];
  };
  const byName = (issue, term) => {
    const wanted = whole(term).replace(/\($|\(\)$/, "");
    if (!/^[a-z_][\w.]*=?$/.test(wanted) || wanted.length < 3) return [0];
    const found = issue.names.findIndex(name => name === wanted || name.startsWith(wanted + ".") || name.endsWith("." + wanted) || name.includes(`(${wanted}`));
    return found < 0 ? [0] : [issue.names[found] === wanted ? 60 : 50, issue.touches[found]];
  };
  // Up to three words must all match, of more at least half.
  const COMMON = new Set("a an and are as at be by can did do does first for from has have i in is it my of on or our release same should that the then there this to was what when which why with work works".split(" "));
  const byWords = (issue, term) => {
    const wanted = words(term).filter(each => each.length > 1 && !COMMON.has(each)).map(stem);
    const hits = wanted.filter(each => issue.stems.has(each)).length;
    return wanted.length && hits >= (wanted.length > 3 ? wanted.length / 2 : wanted.length) ? [10 + 20 * hits / wanted.length, ""] : [0];
  };

  // Refuted claims are answers too.
  const refutedLinks = text => SEARCH.refuted.flatMap(([ref, claim], n) => {
    const said = {threads: [ref], stems: new Set(words(claim).map(stem))};
    return byThread(said, flat(text))[0] || byWords(said, text)[0] ? [make("a", {href: `findings.html#refuted-${n + 1}`}, `Refuted: ${clip(claim)}`)] : [];
  });

  const isVersion = word => /^v?\d+(\.\d+)+/.test(word) || word === "newest";
  // A bare version is jax's if jax has such a release; not one of Python or CUDA.
  const isOfJax = word => word === "newest" || SEARCH.cells.some(id => `${id}.`.startsWith(`jax-${word.replace(/^v/, "")}.`));
  // Versions from a file, or from a sentence.
  const isFile = text => /^\s*[\w.-]+(\[[^\]]*\])?\s*(==|[<>!~]=?)/m.test(text) || /^name = "/m.test(text);
  const pairs = text => {
    const list = flat(text).replace(/[?!,;]+|\.(?=\s|$)/g, " ").split(/\s+/), found = [];
    list.forEach((word, n) => {
      if (/^[a-z_]+-\d[\w.]*(\+[a-z]+-\d[\w.]*)*$/.test(word)) found.push(word);
      else if (packages.has(word) && isVersion(list[n + 1] || "")) found.push(`${word} ${list[n + 1].replace(/^v/, "")}`);
      else if (isVersion(word) && (n === 0 || isOfJax(word)) && !packages.has(list[n - 1])) found.push(word);
    });
    return found;
  };
  const stackOf = text => isFile(text) ? text.trim() : pairs(text).join(" ");
  const ends = text => isFile(text) ? [text] : text.split(/\s*(?:→|->|\bto\b)\s*/);
  const stackLinks = text => {
    const [from, ...to] = ends(text).map(stackOf).filter(Boolean);
    if (!from || (!to.length && !/[a-z]/.test(from))) return [];
    if (!to.length) return [make("a", {href: `stack.html#${encodeURIComponent(from)}`}, `Known issues on ${clip(from)}, and does it work?`)];
    const target = to.join(" ");
    return [make("a", {href: `stack.html#${encodeURIComponent(from)}..${encodeURIComponent(target)}`}, `From ${clip(from)} to ${clip(target)}: what changes`)];
  };
  const clip = text => { const line = text.trim().replace(/\s+/g, " "); return line.length > 70 ? line.slice(0, 69) + "…" : line; };
  const releaseLinks = text => {
    const named = (isFile(text) ? [] : pairs(text)).map(each => each.includes(" ") ? each.replace(" ", "-") : /^\d/.test(each) ? `jax-${each}` : each);
    return [...new Set(named)].filter(id => SEARCH.cells.includes(id)).map(id =>
      make("a", {href: `releases/${id}.html`}, `${id.replace(/-(?=\d)/, " ")}: changes, known issues, what to install with it`));
  };

  const measured = new Map(Object.entries(SEARCH.numbers).flatMap(([module, names]) => names.map(name => [`${module}.${name}`.toLowerCase(), `${module}.${name}`])));
  const numberLinks = terms => terms.flatMap(term => {
    const wanted = whole(flat(term)).replace(/\(.*$/, "");
    if (!/^[a-z_][\w.]*$/.test(wanted) || wanted.length < 3) return [];
    const names = measured.has(wanted) ? [wanted] : [...measured.keys()].filter(name => name.endsWith("." + wanted));
    return names.slice(0, 2).map(name => make("a", {href: `functions/${measured.get(name).replace(/\.[^.]*$/, "")}.html#${measured.get(name)}`}, `${measured.get(name)}: what it returned on each release`));
  });

  const found = (text, terms) => {
    const best = new Map();
    const note = (issue, [score, why]) => { if (score && (!best.has(issue) || best.get(issue)[0] < score)) best.set(issue, [score, why]); };
    for (const issue of SEARCH.issues) {
      note(issue, bySymptom(issue, flat(text)));
      note(issue, byThread(issue, flat(text)));
      for (const term of terms) { note(issue, byName(issue, flat(term))); note(issue, byWords(issue, term)); }
    }
    return [...best].sort((a, b) => b[1][0] - a[1][0]);
  };
  const shown = ([issue, [, why]]) => {
    const facts = document.querySelector(`#issue-${CSS.escape(issue.id)} .facts`);
    const item = make("li", {}, make("a", {href: `issues/${issue.id}.html`}, issue.title), why ? make("span", {class: "soft"}, ` matches ${clip(why)}`) : "");
    if (facts) item.append(facts.cloneNode(true));
    return item;
  };
  const answer = () => {
    const text = box.value.trim();
    box.rows = Math.min(8, box.value.split("\n").length);
    history.replaceState(null, "", text ? `#?${encodeURIComponent(text.slice(0, 4000))}` : location.pathname);
    results.replaceChildren();
    if (text.length < 2) return;
    const links = [...stackLinks(text), ...releaseLinks(text)], claims = refutedLinks(text);
    // What a program printed is a symptom, and no list of words.
    const printed = /\n|(Error|Exception|Warning)\b/.test(text);
    const parts = text.split(/[,;]+/).map(each => each.trim()).filter(Boolean), listed = parts.every(each => each.split(/\s+/).length < 4);
    const terms = printed || text.length > 300 || links.length ? [] : listed ? parts : [text];
    links.push(...numberLinks(terms));
    const issues = found(text, terms);
    if (links.length) results.append(make("ul", {class: "links"}, ...links.slice(0, 5).map(each => make("li", {}, each))));
    if (issues.length) results.append(make("ul", {class: "issues"}, ...issues.slice(0, MOST).map(shown)));
    if (claims.length) results.append(make("ul", {class: "links"}, ...claims.slice(0, 5).map(each => make("li", {}, each))));
    if (issues.length > MOST) results.append(make("p", {class: "soft"}, `and ${issues.length - MOST} more: say more of it.`));
    if (terms.length > 1) {
      const none = terms.filter(term => !SEARCH.issues.some(issue => byName(issue, flat(term))[0] || byWords(issue, term)[0]));
      if (none.length) results.append(make("p", {class: "soft"}, `No documented issue concerns ${none.join(", ")}.`));
    } else if (!links.length && !issues.length && !claims.length)
      results.append(make("p", {}, "No documented issue matches. It may still be known upstream. Covered functions are on ", make("a", {href: "tags.html"}, "the list of functions"), "."));
  };

  box.addEventListener("input", answer);
  box.form.addEventListener("submit", event => event.preventDefault());
  box.addEventListener("keydown", event => {
    const first = results.querySelector("a");
    if (event.key !== "Enter" || event.shiftKey || !first) return;
    event.preventDefault();
    first.click();
  });
  const restore = () => {
    if (!location.hash.startsWith("#?")) return;
    try { box.value = decodeURIComponent(location.hash.slice(2)); } catch { return; }
    answer();
  };
  addEventListener("hashchange", restore);
  restore();
})();
