/* Drawing the lanes: what tasks do, the lines, the arrows, the violation. */
/* Everything that the drawing of one picture needs. */
function pictureOf(context, width, height, left, top, px) {
  return {
    context, width, height, top, px,
    x: (step) => gutter + step * px - left,
    y: (lane) => RULER + lane * laneHeight + laneHeight / 2 - top,
    first: Math.max(0, Math.floor(left / px) - 1),
    end: Math.min(last + 1, Math.ceil((left + width - gutter) / px) + 1),
    firstLane: clamp(Math.floor(top / laneHeight), 0, lanes.length),
    endLane: clamp(Math.ceil((top + height - RULER) / laneHeight), 0, lanes.length),
  };
}

function niceInterval(px) {
  let interval = 1;
  for (let round = 0; interval * px < 44; round++) interval *= round % 3 === 1 ? 2.5 : 2;
  return Math.max(1, Math.round(interval));
}

function drawStripes(p) {
  const { context } = p;
  context.fillStyle = colour.paper;
  context.fillRect(0, 0, p.width, p.height);
  for (let lane = p.firstLane; lane < p.endLane; lane++) {
    if (lane % 2 === 1) {
      context.fillStyle = colour.stripe;
      context.fillRect(0, p.y(lane) - laneHeight / 2, p.width, laneHeight);
    }
  }
  let until = -Infinity;
  context.fillStyle = colour.rule;
  for (let index = lowerBound(ticks, p.first, stepOf); index < ticks.length && ticks[index].step < p.end; index++) {
    const x = p.x(ticks[index].step);
    if (x > until + 8) context.fillRect(until = x, RULER, 1, p.height);
  }
}

function drawCursor(p) {
  const { context } = p, width = Math.max(p.px, 3);
  context.fillStyle = colour.cursor;
  context.fillRect(p.x(view.step), 0, width, p.height);
  context.fillRect(0, p.y(view.lane) - laneHeight / 2, p.width, laneHeight);
}

function hatch(p, x, y, width, height, ink) {
  const { context } = p;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = ink;
  context.globalAlpha *= 0.35;
  context.lineWidth = 1.5;
  context.beginPath();
  const from = Math.max(x - height, -height), to = Math.min(x + width, p.width);
  for (let at = from - (from % 6); at < to; at += 6) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

function drawSpan(p, lane, span) {
  const { context } = p, y = p.y(lane);
  const x = p.x(span.step), width = Math.max(p.x(span.end) - x, 1);
  const name = STATE[span.kind];
  const height = { [READY]: 5, [SLEEPING]: 10, [UNSTARTED]: 1 }[span.kind] || barHeight;
  if (span.kind === DONE) return;
  const gap = span.kind === RUNNING && width > 4 ? 1 : 0;
  context.fillStyle = span.kind === UNSTARTED ? colour.rule : colour[name];
  context.fillRect(x + gap, y - height / 2, width - 2 * gap, height);
  if ((span.kind === WOKEN || span.kind === STRUCK) && width > 3) {
    hatch(p, x, y - height / 2, width, height, colour[name + "-ink"]);
  }
  const isMarked = span.kind === WOKEN || span.kind === STRUCK; /* in its first step */
  const from = Math.max(x + (isMarked ? p.px * 0.75 : 0), gutter) + 6, room = Math.min(x + width, p.width) - from - 4;
  if (LETTER[span.kind] !== "" && room > 8) {
    context.font = "600 11px " + FONT;
    context.fillStyle = colour[name + "-ink"];
    context.textBaseline = "middle";
    context.textAlign = "left";
    const object = span.kind === WAITING && span.object > 0 ? " for " + run.objects[span.object - 1] : "";
    const label = room > 36 ? fit(context, WORD[span.kind] + object, room) : LETTER[span.kind];
    if (span.kind !== WAITING) {
      context.fillStyle = colour[name];
      context.fillRect(from - 3, y - 7, context.measureText(label).width + 6, 14);
      context.fillStyle = colour[name + "-ink"];
    }
    context.fillText(label, from, y + 0.5);
  }
}

/* Spans from left to right. Where several share a pixel, one is drawn. */
function drawLane(p, lane) {
  const { context } = p, list = lanes[lane].spans;
  let step = p.first;
  for (let count = 0; step < p.end && count < 20000; count++) {
    const index = lowerBound(list, step + 1, stepOf) - 1;
    const at = index >= 0 && list[index].end > step ? index : index + 1;
    if (at >= list.length || list[at].step >= p.end) break;
    drawSpan(p, lane, list[at]);
    step = Math.max(list[at].end, Math.ceil((p.x(list[at].step) + 1 - p.x(0)) / p.px));
  }
  const owned = lanes[lane].holds;
  let until = -Infinity;
  context.fillStyle = colour.holding;
  for (let index = Math.max(0, lowerBound(owned, p.first, stepOf) - 64); index < owned.length; index++) {
    const hold = owned[index];
    if (hold.step >= p.end) break;
    const from = Math.max(p.x(hold.step) + p.px / 2, until), to = p.x(Math.min(hold.end + 0.5, last + 1));
    if (to > from) {
      context.fillRect(from, p.y(lane) + barHeight / 2 + 2, Math.max(to - from, 1), 4);
      until = to;
    }
  }
}

function alphaOf(isCause) {
  return view.isFaded && isFailed && !isCause ? 0.18 : 1;
}

/* A dot for the lines of a step, or their words where there is room. */
function drawLines(p, lane) {
  const { context } = p, list = lanes[lane].lines;
  let pixel = -Infinity;
  for (let index = lowerBound(list, p.first, stepOf); index < list.length && list[index].step < p.end; index++) {
    const line = list[index], x = p.x(line.step) + p.px / 2;
    if (x < pixel + 3 && !(line.flags & VIOLATION)) continue;
    pixel = x;
    const isCause = Boolean(line.flags & CAUSE) && isFailed;
    context.globalAlpha = alphaOf(isCause);
    context.beginPath();
    context.arc(x, p.y(lane), isCause ? 3 : 2, 0, 2 * Math.PI);
    context.fillStyle = isCause ? colour.accent : colour.paper;
    context.strokeStyle = isCause ? colour.paper : colour.muted;
    context.lineWidth = 1;
    if (p.px >= 7) { context.fill(); context.stroke(); }
    if (p.px >= 84) {
      context.font = "11px " + FONT;
      context.fillStyle = colour.ink;
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      context.fillText(fit(context, text(line.text), p.px - 6), x, p.y(lane) - barHeight / 2 - 3);
    }
  }
  context.globalAlpha = 1;
}

function drawArrow(p, arrow) {
  const { context } = p;
  const fromLane = laneOf[arrow.from.task], toLane = laneOf[arrow.to.task];
  const x1 = p.x(arrow.from.step) + p.px / 2, x2 = p.x(arrow.to.step) + p.px / 2;
  const down = toLane > fromLane ? 1 : -1;
  const y1 = p.y(fromLane), y2 = p.y(toLane) - down * (barHeight / 2 + 1);
  const isMajor = arrow.kind === WAKE || arrow.kind === CANCEL;
  const ink = arrow.kind === WAKE ? colour.wakes : arrow.kind === CANCEL ? colour.cancels : colour.minor;
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = isMajor ? 2 : 1;
  context.globalAlpha = alphaOf(arrow.isCause);
  context.setLineDash(arrow.kind === CANCEL ? [5, 3] : isMajor ? [] : [2, 3]);
  context.beginPath();
  context.moveTo(x1, y1);
  if (x1 === x2) {
    context.lineTo(x2, y2 - down * 6);
  } else {
    context.bezierCurveTo(x1, y1 + down * laneHeight / 2, x2, y2 - down * laneHeight / 2, x2, y2 - down * 6);
  }
  context.stroke();
  context.setLineDash([]);
  if (isMajor) {
    context.beginPath();
    context.arc(x1, y1, 3.5, 0, 2 * Math.PI);
    context.fill();
  }
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 4.5, y2 - down * 8);
  context.lineTo(x2 + 4.5, y2 - down * 8);
  context.fill();
  context.globalAlpha = 1;
}

function drawArrows(p, which) {
  const isSeen = new Set();
  const ends = [[arrowsTo[which], (arrow) => arrow.to.step], [arrowsFrom[which], (arrow) => arrow.from.step]];
  for (const [list, key] of ends) {
    for (let index = lowerBound(list, p.first, key); index < list.length && key(list[index]) < p.end; index++) {
      const arrow = list[index], from = laneOf[arrow.from.task], to = laneOf[arrow.to.task];
      if (Math.max(from, to) < p.firstLane || Math.min(from, to) >= p.endLane) continue;
      const place = Math.round(p.x(arrow.from.step) / 2) + " " + Math.round(p.x(arrow.to.step) / 2) +
        " " + from + " " + to + " " + arrow.kind;
      if (!isSeen.has(place)) {
        isSeen.add(place);
        drawArrow(p, arrow);
      }
    }
  }
}

function drawViolation(p) {
  if (!violation) return;
  const { context } = p, x = p.x(verdictStep) + p.px / 2, lane = laneOf[violation.task];
  context.strokeStyle = colour.bad;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, RULER);
  context.lineTo(x, p.height);
  context.globalAlpha = 0.45;
  context.stroke();
  context.globalAlpha = 1;
  const y = p.y(lane);
  context.beginPath();
  context.arc(x, y, 8, 0, 2 * Math.PI);
  context.fillStyle = colour.bad;
  context.fill();
  context.strokeStyle = colour.paper;
  context.beginPath();
  context.moveTo(x - 3, y - 3); context.lineTo(x + 3, y + 3);
  context.moveTo(x + 3, y - 3); context.lineTo(x - 3, y + 3);
  context.stroke();
}
