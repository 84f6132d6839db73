"use strict";
(() => {
  const make = (tag, told, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(told)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  // Links to stacks are made here; in the page they would double its size.
  for (const each of document.querySelectorAll(".addresses li")) {
    each.replaceChildren(make("a", {href: "#" + each.id}, ...each.childNodes));
  }

  const panel = make("aside", {class: "panel", "aria-labelledby": "_seen"});
  panel.hidden = true;
  document.body.append(panel);
  let opener = null;
  const close = () => {
    panel.hidden = true;
    opener?.focus({preventScroll: true});
    opener = null;
  };
  // If the clipboard is refused, select the text.
  const copied = (name, text) => {
    const button = make("button", {type: "button"}, name);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        const field = make("input", {readonly: "", "aria-label": name});
        field.value = text;
        button.after(field);
        field.select();
      }
    });
    return button;
  };
  const show = at => {
    const place = at.id.indexOf("@"), name = at.id.slice(0, place), cell = at.id.slice(place + 1);
    const told = at.closest(".alike > li");
    const stop = make("button", {type: "button", class: "close", "aria-label": "Close"}, "×");
    stop.addEventListener("click", close);
    const heading = make("h2", {id: "_seen", tabindex: "-1"}, `${name} on ${cell}`);
    const facts = [...told.querySelectorAll("dl, .detail")].map(each => each.cloneNode(true));
    const replay = told.querySelector(".replay")?.textContent.replace(/cell\([^)]*\)/, () => `cell(${cell})`);
    const steps = make("nav", {"aria-label": "Neighbours"});
    const all = [...at.closest(".alike").querySelectorAll(".addresses li")], here = all.indexOf(at);
    for (const [other, words] of [[all[here - 1], "← "], [all[here + 1], "→ "]]) {
      if (other) steps.append(make("a", {href: "#" + other.id}, words + other.id.slice(place + 1)));
    }
    panel.replaceChildren(
      heading, stop, ...facts,
      ...(replay ? [make("pre", {tabindex: "0", role: "group", "aria-label": "Run it again"}, replay), copied("Copy command", replay)] : []),
      copied("Copy link", location.href.split("#")[0] + "#" + at.id),
      make("p", {}, make("a", {href: "../cells.html#" + cell}, "Its packages and its lock")),
      steps,
    );
    panel.hidden = false;
    panel.scrollTop = 0;
    heading.focus({preventScroll: true});
  };
  const arrive = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* Not percent-encoded. */ }
    const at = document.getElementById(id);
    if (!at?.matches(".addresses li")) {
      if (!panel.hidden) close();
      return;
    }
    at.closest("details").open = true;
    at.scrollIntoView({block: "center"});
    opener = at.firstElementChild;
    show(at);
  };
  document.addEventListener("keydown", event => { if (event.key === "Escape" && !panel.hidden) close(); });
  // A click on the current address fires no hashchange.
  document.addEventListener("click", event => {
    const link = event.target.closest(".addresses a");
    if (link && link.getAttribute("href") === location.hash) arrive();
  });
  addEventListener("hashchange", arrive);
  if (location.hash) arrive();
})();
