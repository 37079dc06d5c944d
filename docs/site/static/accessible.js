// What axe finds in the theme's pages: headings without a level, a page without a title, regions without a name, what scrolls
// and no key reaches.
for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
for (const [place, name] of [[".sidebar-drawer", "All pages"], [".toc-drawer", "This page"]])
  document.querySelector(place)?.setAttribute("aria-label", name);
for (const wide of document.querySelectorAll("pre, .table-wrapper")) wide.tabIndex = 0;
for (const corner of document.querySelectorAll("th")) if (!corner.textContent.trim()) corner.replaceWith(document.createElement("td"));
if (!document.querySelector("h1"))
  document.querySelector("#search-results")?.before(Object.assign(document.createElement("h1"), { textContent: "Search" }));
