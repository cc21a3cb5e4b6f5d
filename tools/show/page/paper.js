/* Paper: what is printed. */
function printRow(line) {
  const row = element("tr", line.flags & VIOLATION ? "bad" : "");
  for (const cell of [line.step, timeText(line.time), run.tasks[line.task], text(line.text)]) {
    row.append(element("td", "", String(cell)));
  }
  return row;
}

/* The end of the run, in the colours of the paper, and the lines that matter. */
window.addEventListener("beforeprint", () => {
  Object.assign(colour, {
    paper: "#fff", panel: "#fff", ink: "#000", muted: "#444", rule: "#ddd", stripe: "#f6f6f6", accent: "#2563eb",
    running: "#334155", ready: "#cbd5e1", waiting: "#fcd34d", "waiting-ink": "#713f12", woken: "#4ade80",
    "woken-ink": "#14532d", struck: "#f87171", "struck-ink": "#7f1d1d", sleeping: "#bfdbfe",
    "sleeping-ink": "#1e3a8a", holding: "#7c3aed", wakes: "#15803d", cancels: "#dc2626", minor: "#94a3b8",
    bad: "#b91c1c",
  });
  laneHeight = 44;
  barHeight = 18;
  const width = 1200, count = Math.min(lanes.length, 30), px = Math.max((width - gutter) / (last + 2), 10);
  const left = Math.max(0, (verdictStep + 2) * px - (width - gutter));
  const height = RULER + count * laneHeight + CURVE + 8;
  const context = resizeCanvas(byId("print-canvas"), width, height);
  byId("print-canvas").style.width = byId("print-canvas").style.height = "";
  drawPicture(pictureOf(context, width, height, left, 0, px), false);
  const told = isFailed ? lines.filter((line) => line.flags & CAUSE) : lines;
  const kept = told.slice(-300);
  byId("print-note").textContent = kept.length + " of " + lines.length + " lines" +
    (isFailed && kept.length < lines.length ? ": those that the violation depends on" +
      (kept.length < told.length ? ", the last of them" : "") : "") + ".";
  document.querySelector("#print-lines tbody").replaceChildren(...kept.map(printRow));
});
window.addEventListener("afterprint", () => { readColours(); layOut(); redraw(); });
