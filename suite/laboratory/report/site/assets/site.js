"use strict";
// Progressive enhancement: the pages are complete without it.
document.documentElement.classList.add("on");
