"use strict";
// Progressive enhancement: the pages are complete without it.
document.documentElement.classList.add("on");

// The report was once a single page; redirect its old addresses.
const ledOn = (told, has) => {
  const pages = {
    upgrade: "stack.html", stacks: "metadata.html", matrix: "matrix.html", timings: "timings.html", cells: "cells.html",
    findings: "findings.html", unexpected: "findings.html#unexpected", undecided: "findings.html#undecided", own: "cells.html#own",
  };
  const [first, ...rest] = told.split("/");
  if (Object.hasOwn(pages, told)) return pages[told];
  if (told.startsWith("upgrade:")) return "stack.html#" + told.slice(8);
  if (told.startsWith("matrix:")) return "matrix.html#" + told.slice(7);
  if (told.startsWith("finding-")) return "findings.html#" + told;
  if (told.startsWith("timing")) return "timings.html#" + told;
  if (first.startsWith("cell-")) {
    const cell = first.slice(5), [issue, name] = rest;
    return issue ? `issues/${issue}.html#${name}@${cell}` : "cells.html#" + cell;
  }
  if (has("issue-" + first)) return `issues/${first}.html` + (rest.length ? "#" + rest[0] : "");
  return null;
};
const leadOn = () => {
  let told = location.hash.slice(1);
  try { told = decodeURIComponent(told); } catch { /* Not percent-encoded. */ }
  const has = id => document.getElementById(id) !== null;
  const target = told && !has(told) && ledOn(told, has);
  if (target) location.replace(target);
};
if (document.querySelector("nav.site [aria-current]")?.getAttribute("href") === "index.html") {
  leadOn();
  addEventListener("hashchange", leadOn);
}
