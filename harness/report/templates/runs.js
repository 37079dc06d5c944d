(function () {
  "use strict";
  document.querySelectorAll(".filtered").forEach(function (part) {
    var form = part.querySelector("form"), said = part.querySelector("[aria-live]");
    var rows = Array.prototype.slice.call(part.querySelectorAll("tbody tr"));
    var wanted = Array.prototype.slice.call(form.querySelectorAll("select"));
    function fits(row) {
      var asked = {};
      wanted.forEach(function (one) { asked[one.name] = one.value; });
      if (asked.variant && row.dataset.variant !== asked.variant) { return false; }
      if (asked.valid && row.dataset.valid !== asked.valid) { return false; }
      if (!asked.anomaly && !asked.verdict) { return true; }
      return row.dataset.found.split(" ").some(function (one) {
        var at = one.lastIndexOf(":"), name = one.slice(0, at), verdict = one.slice(at + 1);
        return (!asked.anomaly || name === asked.anomaly) && (!asked.verdict || verdict === asked.verdict);
      });
    }
    function show() {
      var shown = rows.filter(function (row) { var fit = fits(row); row.hidden = !fit; return fit; }).length;
      said.textContent = shown + " of " + rows.length + " runs";
    }
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("change", show);
    form.addEventListener("reset", function () { setTimeout(show, 0); });
    document.querySelectorAll("a[data-filter]").forEach(function (link) {
      link.addEventListener("click", function () {
        var asked = link.dataset.filter.split(" ");
        wanted.forEach(function (one) {
          one.value = { variant: asked[0], anomaly: asked[1], verdict: asked[2] }[one.name] || "";
        });
        show();
      });
    });
    form.hidden = false;
    show();
  });
})();
