"use strict";
// Everything here only adds: what it shows is on the pages without it.
document.documentElement.classList.add("on");
