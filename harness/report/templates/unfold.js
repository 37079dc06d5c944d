(function () {
  "use strict";
  function unfold() {
    var there = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!there) { return; }
    for (var one = there; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") { one.open = true; }
    }
    there.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details.section").forEach(function (one) { one.open = true; });
  });
  unfold();
})();
