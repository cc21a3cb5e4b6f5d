/* Drawing the rest: the ruler and the names. */
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
}

function draw() {
  const width = scroll.clientWidth, height = scroll.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    resizeCanvas(canvas, width, height);
  }
  drawPicture(pictureOf(canvas.getContext("2d"), width, height, scroll.scrollLeft, scroll.scrollTop, view.px));
}
