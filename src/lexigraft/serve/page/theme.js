// Light or dark: what the system prefers, unless the reader has chosen. A plain script in the head, not a module, so that
// the colours are right before anything is painted.
"use strict";
(() => {
  const KEY = "lexigraft-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is forbidden; the choice then lasts as long as the page
    }
  }

  function show(theme) {
    if (theme === "light" || theme === "dark") {
      document.documentElement.dataset.theme = theme;
    }
    const isDark = (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    document.getElementById("theme")?.setAttribute("aria-pressed", String(isDark));
    return isDark;
  }

  function toggle() {
    const theme = show(null) ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // see chosen()
    }
    show(theme);
  }

  show(chosen());
  system.addEventListener("change", () => show(null));
  document.addEventListener("DOMContentLoaded", () => {
    show(null);
    document.getElementById("theme").addEventListener("click", toggle);
  });
})();
