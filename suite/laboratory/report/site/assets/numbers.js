"use strict";
(() => {
  const SHORT = {jnp: "jax.numpy", jsp: "jax.scipy", jr: "jax.random", lax: "jax.lax", nn: "jax.nn"};
  const box = document.getElementById("n-name"), count = document.getElementById("n-count");
  const functions = [...document.querySelectorAll(".function")];
  const parts = [...document.querySelectorAll(".numbers-of section")];

  const filter = () => {
    const wanted = box.value.trim().toLowerCase().replace(/\(.*$/, "").replace(/^[a-z]+(?=\.)/, first => SHORT[first] || first);
    let shown = 0;
    for (const each of functions) {
      const fits = [each, ...each.querySelectorAll("span[id]")].some(named => named.id.toLowerCase().includes(wanted));
      each.classList.toggle("off", !fits);
      shown += fits;
    }
    for (const part of parts) part.classList.toggle("off", !part.querySelector(".function:not(.off)"));
    count.textContent = `${shown} of ${functions.length} functions`;
  };
  // An address names a function: unfold it, whatever is filtered.
  const arrive = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest(".function");
    if (!named) return;
    box.value = "";
    filter();
    named.open = true;
    named.scrollIntoView();
  };
  box.addEventListener("input", filter);
  addEventListener("hashchange", arrive);
  filter();
  arrive();
})();
