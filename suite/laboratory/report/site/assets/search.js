"use strict";
// The box of the front page: what match.js finds for a symptom, a function, a thread, a release, or versions, as links.
(() => {
  const box = document.getElementById("search"), results = document.getElementById("results");
  const MOST = 12, MOST_LINKS = 5;
  const match = matcher(SEARCH), {flat, packages} = match;
  const issues = new Map(SEARCH.issues.map(issue => [issue.id, issue])), timings = new Map(SEARCH.timings.map(timing => [timing.id, timing]));

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const clip = text => { const line = text.trim().replace(/\s+/g, " "); return line.length > 70 ? line.slice(0, 69) + "…" : line; };

  const isVersion = word => /^v?\d+(\.\d+)+/.test(word) || word === "newest";
  // A bare version is jax's if jax has such a release; not one of Python or CUDA.
  const isOfJax = word => word === "newest" || SEARCH.releases.some(id => `${id}.`.startsWith(`jax-${word.replace(/^v/, "")}.`));
  // Versions from a file, or from a sentence.
  const isFile = text => /^[ \t]*[\w.-]+(\[[^\]\n]*\])?[ \t]*(==|[<>!~]=?)/m.test(text) || /^name = "/m.test(text);
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
  const ends = text => isFile(text) ? [text] : text.split(/→|->|\bto\b/);
  const stackLinks = text => {
    const [from, ...to] = ends(text).map(stackOf).filter(Boolean);
    if (!from || (!to.length && !/[a-z]/.test(from))) return [];
    if (!to.length) return [make("a", {href: `stack.html#${encodeURIComponent(from)}`}, `Known issues on ${clip(from)}, and does it work?`)];
    const target = to.join(" ");
    return [make("a", {href: `stack.html#${encodeURIComponent(from)}..${encodeURIComponent(target)}`}, `From ${clip(from)} to ${clip(target)}: what changes`)];
  };

  const LINKS = {
    release: id => make("a", {href: `releases/${id}.html`}, `${id.replace(/-(?=\d)/, " ")}: changes, known issues, what to install with it`),
    function: id => make("a", {href: `functions/${id.replace(/\.[^.]*$/, "")}.html#${id}`}, `${id}: what it returned on each release`),
    timing: id => {
      const {title, factor, since, threads} = timings.get(id);
      const times = factor >= 10 ? factor.toFixed(0) : factor.toFixed(1), named = threads.length ? ` (${threads.join(", ")})` : "";
      return make("a", {href: SEARCH.charts[id]}, `Slower, measured: ${title}, ${times} times from jax ${since}${named}`);
    },
    refuted: id => make("a", {href: `findings.html#refuted-${id}`}, `Refuted: ${clip(SEARCH.refuted[Number(id) - 1][1])}`),
  };
  const shown = ({id, why}) => {
    const facts = document.querySelector(`#issue-${CSS.escape(id)} .facts`);
    const item = make("li", {}, make("a", {href: `issues/${id}.html`}, issues.get(id).title), why ? make("span", {class: "soft"}, ` matches ${clip(why)}`) : "");
    if (facts) item.append(facts.cloneNode(true));
    return item;
  };
  const list = (kind, items) => { if (items.length) results.append(make("ul", {class: kind}, ...items)); };
  const entries = links => links.slice(0, MOST_LINKS).map(link => make("li", {}, link));
  const told = ({told, page}) => make("p", {}, told, ...(page ? [" ", make("a", {href: page}, "JAX's documentation")] : []));

  // Names are large, and few texts need them.
  const names = globalThis.NAMES ??= {}, asked = new Set();
  const fetchNames = text => {
    for (const name of match.needed(text)) {
      if (asked.has(name)) continue;
      asked.add(name);
      const loaded = make("script", {src: `data/names-${name}.js`});
      loaded.addEventListener("load", answer);
      document.head.append(loaded);
    }
  };
  const answer = () => {
    const text = box.value.trim();
    box.rows = Math.min(8, box.value.split("\n").length);
    history.replaceState(null, "", text ? `#?${encodeURIComponent(text.slice(0, 4000))}` : location.pathname);
    results.replaceChildren();
    if (text.length < 2) return;
    fetchNames(text);
    const found = match.ranked(text), of = (...kinds) => found.filter(result => kinds.includes(result.kind));
    const sentences = match.sentences(text, names), {terms} = match.asked(text);
    const links = [...stackLinks(text), ...of("release", "function", "timing").map(({kind, id}) => LINKS[kind](id))];
    results.append(...sentences.map(told));
    list("links", entries(links));
    if (of("issue").length && of("issue").every(({partial}) => partial)) results.append(make("p", {class: "soft"}, "No issue has all of these words. Issues with some of them:"));
    list("issues", of("issue").slice(0, MOST).map(shown));
    list("links", entries(of("refuted").map(({id}) => LINKS.refuted(id))));
    if (of("issue").length > MOST) results.append(make("p", {class: "soft"}, `and ${of("issue").length - MOST} more: say more of it.`));
    if (terms.length > 1) {
      const none = terms.filter(term => !SEARCH.issues.some(issue => match.byName(issue, term) || match.byWords(issue, term)));
      if (none.length) results.append(make("p", {class: "soft"}, `No documented issue concerns ${none.join(", ")}.`));
    } else if (!links.length && !found.length && !sentences.length)
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
