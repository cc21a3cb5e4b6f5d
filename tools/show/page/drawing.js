/* Drawing the rest: the ruler, the names, the curve, and the strip of the whole run. */
/* Steps above, the virtual clock below. */
function drawRuler(p) {
  const { context } = p, interval = niceInterval(p.px);
  context.fillStyle = colour.panel;
  context.fillRect(0, 0, p.width, RULER);
  context.font = "11px " + FONT;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let step = Math.ceil(p.first / interval) * interval; step <= Math.min(p.end, last); step += interval) {
    context.fillStyle = step === view.step ? colour.accent : colour.muted;
    context.fillText(String(step), p.x(step) + p.px / 2, 13);
  }
  context.textAlign = "left";
  let until = -Infinity;
  for (let index = Math.max(0, lowerBound(ticks, p.first, stepOf) - 1); index < ticks.length; index++) {
    const tick = ticks[index], x = Math.max(p.x(tick.step), gutter);
    if (tick.step >= p.end) break;
    if (x < until) { continue; }
    const label = timeText(tick.time);
    context.fillStyle = colour.rule;
    context.fillRect(x, 24, 1, RULER - 24);
    context.fillStyle = colour.ink;
    context.fillText(label, x + 5, 34);
    until = x + context.measureText(label).width + 12;
  }
  context.fillStyle = colour.rule;
  context.fillRect(0, RULER - 1, p.width, 1);
  if (p.px < 44 && view.step >= p.first && view.step <= p.end) {
    const label = String(view.step), x = p.x(view.step) + p.px / 2;
    context.font = "600 11px " + FONT;
    context.textAlign = "center";
    const width = context.measureText(label).width + 10;
    context.fillStyle = colour.accent;
    context.beginPath();
    context.roundRect(x - width / 2, 4, width, 18, 4);
    context.fill();
    context.fillStyle = colour.paper;
    context.fillText(label, x, 13.5);
  }
}

function drawGutter(p) {
  const { context } = p;
  context.fillStyle = colour.panel;
  context.fillRect(0, RULER, gutter - 1, p.height);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let lane = p.firstLane; lane < p.endLane; lane++) {
    const isChosen = lane === view.lane;
    context.font = (isChosen ? "650" : "500") + " 13px " + FONT;
    if (isChosen) {
      context.fillStyle = colour.accent;
      context.fillRect(0, p.y(lane) - laneHeight / 2 + 6, 4, laneHeight - 12);
    }
    context.fillStyle = colour.ink;
    context.fillText(fit(context, lanes[lane].name, gutter - 26), 16, p.y(lane));
  }
  context.fillStyle = colour.panel;
  context.fillRect(0, 0, gutter - 1, RULER);
  context.font = "11px " + FONT;
  context.fillStyle = colour.muted;
  context.textAlign = "right";
  context.fillText("step", gutter - 10, 13);
  context.fillText("virtual time", gutter - 10, 34);
  context.fillStyle = colour.rule;
  context.fillRect(gutter - 1, 0, 1, p.height);
  context.fillRect(0, RULER - 1, gutter, 1);
}

/* How likely a run fails that began like this one. */
function drawCurve(p) {
  if (CURVE === 0) return;
  const { context } = p, top = bottomOf(p.height), low = p.height - 10, high = top + 14;
  const yOf = (point) => low - (low - high) * point[1] / point[2];
  context.fillStyle = colour.paper;
  context.fillRect(gutter, top, p.width, CURVE);
  context.fillStyle = colour.rule;
  context.fillRect(gutter, top, p.width, 1);
  context.fillRect(gutter, low, p.width, 1);
  const start = Math.max(0, lowerBound(run.curve, p.first, (point) => point[0]) - 1);
  context.beginPath();
  let isOpen = false, y = low;
  for (let index = start; index < run.curve.length; index++) {
    const x = p.x(run.curve[index][0]) + p.px / 2;
    if (isOpen) context.lineTo(x, y); else context.moveTo(x, yOf(run.curve[index]));
    y = yOf(run.curve[index]);
    context.lineTo(x, y);
    isOpen = true;
    if (run.curve[index][0] > p.end) break;
  }
  context.strokeStyle = colour.bad;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = colour.panel;
  context.fillRect(0, top, gutter - 1, CURVE);
  context.fillStyle = colour.muted;
  context.font = "11px " + FONT;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("fails from here", gutter - 10, (low + high) / 2);
  context.fillText("100 %", gutter - 10, high);
  context.fillText("0 %", gutter - 10, low);
}

function drawPicture(p) {
  drawStripes(p);
  drawCursor(p);
  for (let lane = p.firstLane; lane < p.endLane; lane++) drawLane(p, lane);
  if (view.isAll) drawArrows(p, "minor");
  for (let lane = p.firstLane; lane < p.endLane; lane++) drawLines(p, lane);
  drawArrows(p, "major");
  drawViolation(p);
  drawRuler(p);
  drawGutter(p);
  drawCurve(p);
}

function draw() {
  const width = scroll.clientWidth, height = scroll.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    resizeCanvas(canvas, width, height);
  }
  drawPicture(pictureOf(canvas.getContext("2d"), width, height, scroll.scrollLeft, scroll.scrollTop, view.px));
  drawOverview();
}

/* The whole run in one strip; drawn once, and then with the frame of what is in view. */
let strip = null;
function drawStrip(width, height) {
  strip = document.createElement("canvas");
  const context = resizeCanvas(strip, width, height), x = (step) => step / (last + 1) * width;
  context.fillStyle = colour.panel;
  context.fillRect(0, 0, width, height);
  const columns = [new Set(), new Set()];
  for (const arrow of major) {
    const isCancel = arrow.kind === CANCEL, at = Math.round(x(arrow.to.step + 0.5));
    if (columns[Number(isCancel)].has(at)) continue;
    columns[Number(isCancel)].add(at);
    context.fillStyle = isCancel ? colour.cancels : colour.wakes;
    context.fillRect(at - 0.5, isCancel ? 4 : height / 2 + 2, 1.5, height / 2 - 6);
  }
  for (const line of lines) {
    if (line.flags & INJECTED) {
      context.fillStyle = colour.cancels;
      context.fillRect(x(line.step + 0.5) - 0.5, 4, 1.5, height / 2 - 6);
    }
  }
  if (violation) {
    context.fillStyle = colour.bad;
    context.fillRect(x(verdictStep + 0.5) - 1.5, 0, 3, height);
  }
}

function drawOverview() {
  const width = overview.clientWidth, height = overview.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (strip === null || strip.width !== Math.round(width * ratio)) {
    drawStrip(width, height);
    resizeCanvas(overview, width, height);
    overview.style.width = overview.style.height = "";
  }
  const context = overview.getContext("2d"), scale = width / ((last + 1) * view.px);
  context.drawImage(strip, 0, 0, width, height);
  const from = scroll.scrollLeft * scale, seen = (scroll.clientWidth - gutter) * scale;
  context.fillStyle = colour.accent;
  context.globalAlpha = 0.14;
  context.fillRect(from, 0, seen, height);
  context.globalAlpha = 1;
  context.strokeStyle = colour.accent;
  context.lineWidth = 1.5;
  context.strokeRect(from + 1, 1, Math.min(seen, width - from) - 2, height - 2);
  context.fillRect((view.step + 0.5) / (last + 1) * width - 1, 0, 2, height);
}
