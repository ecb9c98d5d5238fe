/* What the browser does by itself: light or dark, saving charts, names for sliders. */
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const name = () => (dark.matches ? "dark" : "light");

  dark.addEventListener("change", () => {
    if (window.dash_clientside.set_props) {
      window.dash_clientside.set_props("theme", { data: name() });
    }
  });

  function saveFigure(box, format, file) {
    const chart = document.querySelector(`#${CSS.escape(box)} .js-plotly-plot`);
    if (!chart || !window.Plotly) {
      return;
    }
    const ground = getComputedStyle(document.body).backgroundColor;
    const size = chart.getBoundingClientRect();
    const figure = { data: chart.data, layout: { ...chart.layout, paper_bgcolor: ground, plot_bgcolor: ground } };
    window.Plotly.downloadImage(figure, {
      format: format,
      filename: file,
      width: Math.max(720, Math.round(size.width)),
      height: Math.max(400, Math.round(size.height)),
      scale: format === "png" ? 2 : 1,
    });
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.studio = {
    theme: function (_path, now) {
      return now === name() ? window.dash_clientside.no_update : name();
    },
    /* one function for all chart buttons: the button's id says which chart and which format */
    save: function (...given) {
      const cause = window.dash_clientside.callback_context.triggered[0];
      const wanted = given[given.length - 1];
      if (cause && cause.value) {
        const button = cause.prop_id.split(".")[0];
        const choice = wanted.find((one) => one.button === button);
        if (choice) {
          saveFigure(choice.chart, choice.format, choice.file);
        }
      }
      return window.dash_clientside.no_update;
    },
    /* the graph component draws its own PNG */
    picture: function (clicks, theme) {
      if (!clicks) {
        return window.dash_clientside.no_update;
      }
      const bg = theme === "dark" ? "#14171c" : "#ffffff";
      return { type: "png", action: "download", filename: "design", options: { bg: bg, full: true, scale: 2 } };
    },
  };

  /* sliders carry the name of their control, so that screen readers can say it */
  function nameSliders() {
    for (const thumb of document.querySelectorAll(".dash-slider-thumb:not([aria-label])")) {
      const group = thumb.closest("[data-name]");
      if (group) {
        thumb.setAttribute("aria-label", group.dataset.name);
      }
    }
  }
  /* a graph fits its box, whatever happens to the window */
  let fitting = 0;
  const boxes = new ResizeObserver(function () {
    window.clearTimeout(fitting);
    fitting = window.setTimeout(function () {
      for (const box of document.querySelectorAll(".graph")) {
        const graph = box.firstElementChild;
        if (graph && graph._cyreg && box.clientWidth) {
          graph._cyreg.cy.resize();
          graph._cyreg.cy.fit(undefined, 24);
        }
      }
    }, 60);
  });
  const watched = new WeakSet();
  function watchGraphs() {
    for (const box of document.querySelectorAll(".graph")) {
      if (!watched.has(box)) {
        watched.add(box);
        boxes.observe(box);
      }
    }
  }
  function look() {
    nameSliders();
    watchGraphs();
  }
  new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
})();
