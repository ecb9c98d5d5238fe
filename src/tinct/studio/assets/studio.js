/* What the browser does by itself: light or dark, saving charts, fitting graphs, names for sliders and the window. */
(function () {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const name = () => (dark.matches ? "dark" : "light");

  dark.addEventListener("change", () => {
    if (window.dash_clientside.set_props) {
      window.dash_clientside.set_props("theme", { data: name() });
    }
  });

  /* the graph component sets a wheel speed by itself, and then warns of it */
  if (window.dash_cytoscape) {
    delete window.dash_cytoscape.Cytoscape.defaultProps.wheelSensitivity;
  }

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
  /* a graph fits its box, the box is no higher than the graph needs, and names are large enough to be read */
  const ROOM = 24;
  const LETTERS = 11;
  function fit(box) {
    const graph = box.firstElementChild;
    const cy = graph && graph._cyreg && graph._cyreg.cy;
    if (!cy || !box.clientWidth || cy.nodes().empty()) {
      return;
    }
    const longest = Math.max(...cy.nodes().map((node) => node.data("label").length), 1);
    const most = Math.max(13, Math.min(26, 160 / longest));
    const zoom = (across) => Math.min(cy.maxZoom(), (box.clientWidth - 2 * ROOM) / across);
    const size = (at) => Math.min(most, Math.max(13, LETTERS / at));
    cy.nodes().style("font-size", size(zoom(cy.elements().boundingBox().w)));
    const needed = cy.elements().boundingBox();
    box.style.height = `${Math.round(needed.h * zoom(needed.w) + 2 * ROOM)}px`; /* within the limits of the style */
    cy.resize();
    cy.fit(undefined, ROOM);
    cy.nodes().style("font-size", size(cy.zoom()));
    cy.fit(undefined, ROOM);
  }
  let fitting = 0;
  function fitAll() {
    window.clearTimeout(fitting);
    fitting = window.setTimeout(() => document.querySelectorAll(".graph").forEach(fit), 60);
  }
  const boxes = new ResizeObserver(fitAll);
  const watched = new WeakSet();
  function watchGraphs() {
    for (const box of document.querySelectorAll(".graph")) {
      if (!watched.has(box)) {
        watched.add(box);
        boxes.observe(box);
      }
      const graph = box.firstElementChild;
      if (graph && graph._cyreg && !watched.has(graph)) {
        watched.add(graph);
        graph._cyreg.cy.on("layoutstop", fitAll);
        fitAll();
      }
    }
  }
  /* the window is named after its page */
  function nameWindow() {
    const heading = document.querySelector("main h1");
    const title = heading ? `${heading.textContent} · tinct studio` : "tinct studio";
    if (document.title !== title) {
      document.title = title;
    }
  }
  function look() {
    nameSliders();
    nameWindow();
    watchGraphs();
  }
  new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
})();
