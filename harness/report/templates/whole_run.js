(function () {
  "use strict";
  document.querySelectorAll(".whole").forEach(function (whole) {
    var begin = +whole.dataset.begin, end = +whole.dataset.end, width = +whole.dataset.width;
    var from = 0, to = width, least = width / 5000;
    var svg = whole.querySelector("svg"), said = whole.querySelector("[aria-live]");
    var axis = whole.querySelector(".time-axis"), space = "http://www.w3.org/2000/svg";
    function time(x) { return (begin + x / width * (end - begin)) / 1e6; }
    function step(span) {
      var power = Math.pow(10, Math.floor(Math.log10(span / 10)));
      return [1, 2, 5, 10].map(function (digit) { return power * digit; }).find(function (one) { return one >= span / 10; });
    }
    function add(name, attributes, words) {
      var one = document.createElementNS(space, name);
      Object.keys(attributes).forEach(function (key) { one.setAttribute(key, attributes[key]); });
      if (words) { one.textContent = words; }
      axis.appendChild(one);
    }
    function draw() {
      var by = width / (to - from);
      whole.querySelectorAll("g.zoom").forEach(function (group) {
        group.setAttribute("transform", "scale(" + by + " 1) translate(" + -from + " 0)");
      });
      whole.querySelectorAll("g.zoom text").forEach(function (text) {
        var left = +text.dataset.x, x = Math.max(left, Math.min(from, left + +text.dataset.width));
        text.setAttribute("x", x);
        text.setAttribute("transform", "translate(" + x + " 0) scale(" + 1 / by + " 1) translate(" + -x + " 0)");
        text.classList.toggle("hide", text.textContent.length * 5.6 > (left + +text.dataset.width - x) * by);
      });
      while (axis.firstChild) { axis.removeChild(axis.firstChild); }
      var between = step(time(to) - time(from)), digits = Math.max(0, -Math.floor(Math.log10(between)));
      for (var at = Math.ceil(time(from) / between - 1e-9) * between; at <= time(to) + 1e-12; at += between) {
        var x = (at - time(from)) / (time(to) - time(from)) * width;
        add("path", { "class": "axis", d: "M" + x + " 0v5" });
        add("text", { "class": "when", x: x, y: 17 }, at.toFixed(digits) + " s");
      }
      said.textContent = from === 0 && to === width ? "" : time(from).toFixed(4) + " s to " + time(to).toFixed(4) + " s";
    }
    function show(low, high) {
      var span = Math.min(Math.max(high - low, least), width);
      from = Math.min(Math.max(low, 0), width - span);
      to = from + span;
      draw();
    }
    var does = {
      "in": function () { show(from + (to - from) / 4, to - (to - from) / 4); },
      out: function () { show(from - (to - from) / 2, to + (to - from) / 2); },
      left: function () { show(from - (to - from) / 3, to - (to - from) / 3); },
      right: function () { show(from + (to - from) / 3, to + (to - from) / 3); },
      all: function () { show(0, width); }
    };
    whole.querySelectorAll(".zoom-buttons").forEach(function (one) { one.hidden = false; });
    whole.querySelectorAll("button").forEach(function (button) { button.addEventListener("click", does[button.dataset.do]); });
    function place(event) {
      var box = svg.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width * 1000 - 110, 0), width);
    }
    var start = null, mark = null;
    svg.addEventListener("pointerdown", function (event) {
      if (event.pointerType !== "mouse" || event.button !== 0) { return; }
      start = place(event);
      mark = document.createElementNS(space, "rect");
      mark.setAttribute("class", "chosen");
      mark.setAttribute("y", 0);
      mark.setAttribute("height", svg.viewBox.baseVal.height);
      svg.appendChild(mark);
      event.preventDefault();
    });
    window.addEventListener("pointermove", function (event) {
      if (start === null) { return; }
      var now = place(event);
      mark.setAttribute("x", 110 + Math.min(start, now));
      mark.setAttribute("width", Math.abs(now - start));
    });
    window.addEventListener("pointerup", function (event) {
      if (start === null) { return; }
      var now = place(event), low = Math.min(start, now), high = Math.max(start, now), by = (to - from) / width;
      svg.removeChild(mark);
      start = null;
      if (high - low > 4) { show(from + low * by, from + high * by); }
    });
    svg.addEventListener("dblclick", does.all);
  });
})();
