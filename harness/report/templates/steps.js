(function () {
  "use strict";
  document.querySelectorAll(".stepped").forEach(function (block) {
    var steps = block.querySelectorAll(".story > li, .sides > tbody > tr"), states = block.querySelectorAll(".states tbody");
    var folded = block.querySelector(".states"), said = block.querySelector(".said"), figure = block.querySelector("figure");
    var at = -1, marks = [];
    function words(step) {
      var parts = Array.from(step.childNodes).map(function (part) {
        var text = part.textContent.trim(), of = part.dataset && part.dataset.of;
        return text && of ? of + ": " + text : text;
      }).filter(Boolean);
      return "Step " + (at + 1) + " of " + steps.length + ", at " + parts.shift() + ". " + parts.join(" ");
    }
    function drawn(name) { return figure && figure.querySelector('g[id$="-' + name + '"]'); }
    function mark(name, attributes) {
      var one = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.keys(attributes).forEach(function (key) { one.setAttribute(key, attributes[key]); });
      one.setAttribute("class", "now");
      figure.querySelector("svg").appendChild(one);
      marks.push(one);
      return one;
    }
    function draw(number) {
      var line = null, place = drawn("moment-" + number);
      for (var first = number; first && !line; first -= 1) { line = drawn("at-" + first); }
      if (!line || !place) { return; }
      mark("path", { d: line.querySelector("path").getAttribute("d") });
      place = place.querySelector("use");
      var ring = mark("circle", { cx: place.getAttribute("x"), cy: place.getAttribute("y"), r: 9.5 });
      var box = ring.getBoundingClientRect(), frame = figure.getBoundingClientRect();
      figure.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
    }
    function show(to) {
      at = to;
      marks.forEach(function (one) { one.remove(); });
      marks = [];
      steps.forEach(function (step, number) { step.classList.toggle("now", number === at); });
      states.forEach(function (part, number) { part.hidden = at >= 0 && number !== at; });
      if (folded) { folded.open = at >= 0; }
      said.textContent = at < 0 ? "" : words(steps[at]);
      if (at >= 0) { draw(at + 1); }
    }
    var does = {
      first: function () { show(0); },
      back: function () { show(Math.max(at - 1, 0)); },
      next: function () { show(Math.min(at + 1, steps.length - 1)); },
      last: function () { show(steps.length - 1); },
      all: function () { show(-1); }
    };
    var keys = { ArrowLeft: does.back, ArrowRight: does.next, Home: does.first, End: does.last };
    if (!steps.length) { return; }
    block.querySelector(".zoom-buttons").hidden = false;
    block.querySelectorAll("[data-do]").forEach(function (button) { button.addEventListener("click", does[button.dataset.do]); });
    block.addEventListener("keydown", function (event) {
      var on = event.target, scrolls = on.matches("figure, .table") && on.scrollWidth > on.clientWidth;
      if (!keys[event.key] || scrolls || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) { return; }
      event.preventDefault();
      keys[event.key]();
    });
  });
})();
