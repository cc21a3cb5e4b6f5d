"use strict";
/* The page of a run. Names and messages come from a trace that nobody vouches for: they reach the
 * page through textContent and fillText alone. Whatever is drawn is looked up by binary search, so
 * that the length of the run does not matter. */
(function () {
  const run = JSON.parse(document.getElementById("run").textContent);
  const UNSTARTED = 0, READY = 1, RUNNING = 2, WAITING = 3, WOKEN = 4, STRUCK = 5, SLEEPING = 6, DONE = 7;
  const STATE = ["unstarted", "ready", "running", "waiting", "woken", "struck", "sleeping", "done"];
  const WORD = ["", "", "", "waits", "woken", "cancelled", "", ""];
  const LETTER = ["", "", "", "W", "R", "C", "", ""];
  const WAKE = 1, CANCEL = 2;
  const CAUSE = 1, VIOLATION = 2, INJECTED = 4;
  const RULER = 44, CURVE = run.curve.length > 0 ? 76 : 0;
  const ZOOM_MAX = 160, WIDTH_MAX = 16e6;
  const byId = (id) => document.getElementById(id);
  const canvas = byId("canvas"), scroll = byId("scroll"), space = byId("space"), overview = byId("overview");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  /* --- the run ------------------------------------------------------------------------------- */

  /* Rows of numbers come as one flat array. */
  function rows(flat, names) {
    const list = [], width = names.length;
    for (let at = 0; at < flat.length; at += width) {
      const row = {};
      for (let column = 0; column < width; column++) row[names[column]] = flat[at + column];
      list.push(row);
    }
    return list;
  }
  const text = (number) => (number < 0 ? null : run.strings[number]);
  const lines = rows(run.lines, ["step", "time", "task", "text", "window", "flags"]);
  const spans = rows(run.spans, ["task", "step", "end", "kind", "object", "holding"]);
  const arrows = rows(run.arrows, ["from", "to", "kind"]);
  const holds = rows(run.holds, ["task", "object", "step", "end"]);
  const finals = new Map(rows(run.finals, ["task", "object"]).map((row) => [row.task, row.object]));
  const last = run.last;

  /* The first index whose element does not come before `value`. */
  function lowerBound(list, value, key) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (key(list[middle]) < value) low = middle + 1; else high = middle;
    }
    return low;
  }
  const stepOf = (item) => item.step;

  /* Lanes: the loop only if the story tells of it. */
  const lanes = [];
  const laneOf = new Array(run.tasks.length).fill(-1);
  {
    const isTold = new Array(run.tasks.length).fill(false);
    for (const line of lines) isTold[line.task] = true;
    for (const span of spans) isTold[span.task] = true;
    run.tasks.forEach((name, task) => {
      if (isTold[task]) {
        laneOf[task] = lanes.length;
        lanes.push({ task, name, spans: [], lines: [], holds: [] });
      }
    });
  }
  const laneFor = (task) => lanes[laneOf[task]];
  for (const span of spans) laneFor(span.task).spans.push(span);
  for (const line of lines) laneFor(line.task).lines.push(line);
  for (const hold of holds) { const lane = laneFor(hold.task); if (lane) lane.holds.push(hold); }
  const violation = lines.find((line) => line.flags & VIOLATION);
  const verdictStep = violation ? violation.step : last;
  const isFailed = run.oracle !== null;

  /* The clock: where it moves on. */
  const ticks = [];
  for (const line of lines) {
    const before = ticks.length > 0 ? ticks[ticks.length - 1].time : -1;
    if (line.time > before) ticks.push({ step: line.step, time: line.time });
  }
  function timeAt(step) {
    const index = lowerBound(ticks, step + 1, stepOf);
    return index > 0 ? ticks[index - 1].time : 0;
  }
  function timeText(time) {
    if (time === 0) return "0";
    for (const [unit, ns] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
      if (time % ns === 0) return time / ns + " " + unit;
    }
    return time + " ns";
  }

  function spanAt(lane, step) {
    const index = lowerBound(lane.spans, step + 1, stepOf) - 1;
    return index >= 0 && lane.spans[index].end > step ? index : -1;
  }

  /* What a task does once the step is over: a step that ends with a wait counts as waiting. */
  function stateAfter(lane, step) {
    const index = spanAt(lane, step);
    if (index < 0) return null;
    const span = lane.spans[index], next = lane.spans[index + 1];
    if (span.kind !== RUNNING || span.end !== step + 1) return { kind: span.kind, object: span.object, index };
    if (!next || next.step > step + 1) {
      return step === last && finals.has(lane.task)
        ? { kind: WAITING, object: finals.get(lane.task), index } : null;
    }
    const kind = next.kind === WOKEN || (next.kind === STRUCK && next.object >= 0) ? WAITING : next.kind;
    return { kind: kind === RUNNING ? READY : kind, object: next.object, index: index + 1 };
  }

  /* Since when it waits for what it waits for. */
  function waitsSince(lane, index) {
    const object = lane.spans[index].object;
    while (index > 0 && lane.spans[index - 1].object === object && object >= 0) index--;
    return lane.spans[index].step;
  }

  /* W, R, C and the owners of each object after a step. */
  function queuesAfter(step) {
    const queues = new Map();
    const queue = (object) => {
      if (!queues.has(object)) queues.set(object, { W: [], R: [], C: [], held: [] });
      return queues.get(object);
    };
    for (const object of run.objects) queue(object);
    for (const lane of lanes) {
      const state = stateAfter(lane, step);
      const place = state && { [WAITING]: "W", [WOKEN]: "R", [STRUCK]: "C" }[state.kind];
      if (place && state.object >= 0) {
        queue(state.object)[place].push({ name: lane.name, since: waitsSince(lane, state.index) });
      }
      for (const hold of lane.holds) {
        if (hold.step > step) break;
        if (hold.end > step) queue(hold.object).held.push({ name: lane.name, since: hold.step });
      }
    }
    for (const entry of queues.values()) {
      for (const list of Object.values(entry)) list.sort((a, b) => a.since - b.since);
    }
    return queues;
  }

  /* Arrows by the step at which they begin and end: a picture needs those with an end in view. */
  const withSteps = arrows.map((arrow) => ({
    kind: arrow.kind, from: lines[arrow.from], to: lines[arrow.to],
    isCause: Boolean(lines[arrow.from].flags & lines[arrow.to].flags & CAUSE),
  })).filter((arrow) => arrow.from.task !== arrow.to.task);
  const major = withSteps.filter((arrow) => arrow.kind === WAKE || arrow.kind === CANCEL);
  const minor = withSteps.filter((arrow) => arrow.kind !== WAKE && arrow.kind !== CANCEL);
  const byFrom = (list) => list.slice().sort((a, b) => a.from.step - b.from.step);
  const arrowsTo = { major, minor }, arrowsFrom = { major: byFrom(major), minor: byFrom(minor) };

  /* --- the view ------------------------------------------------------------------------------ */

  const view = { px: 24, step: verdictStep, lane: 0, isAll: false, isFaded: false };
  if (violation) view.lane = Math.max(0, laneOf[violation.task]);
  let colour = {};
  let gutter = 120;
  let laneHeight = 44, barHeight = 18; /* heights: few lanes are higher */
  let isQueued = false;

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colour = {};
    for (const name of ["paper", "panel", "ink", "muted", "rule", "stripe", "accent", "cursor", "running",
      "ready", "waiting", "waiting-ink", "woken", "woken-ink", "struck", "struck-ink", "sleeping",
      "sleeping-ink", "holding", "wakes", "cancels", "minor", "bad", "bad-paper"]) {
      colour[name] = style.getPropertyValue("--" + name).trim();
    }
  }
  const FONT = 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif';
  const bottomOf = (height) => height - CURVE;
  const zoomMin = () => Math.min(ZOOM_MAX, Math.max((scroll.clientWidth - gutter - 24) / (last + 2), 1e-9));
  const zoomMax = () => Math.min(ZOOM_MAX, WIDTH_MAX / (last + 2));

  /* Shortened with an ellipsis; names may be long. */
  function fit(context, string, width) {
    if (context.measureText(string).width <= width) return string;
    let low = 0, high = Math.min(string.length, 200);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(string.slice(0, middle) + "…").width <= width) low = middle; else high = middle - 1;
    }
    return low === 0 ? "" : string.slice(0, low) + "…";
  }

  function resizeCanvas(target, width, height) {
    const ratio = window.devicePixelRatio || 1;
    target.width = Math.round(width * ratio);
    target.height = Math.round(height * ratio);
    target.style.width = width + "px";
    target.style.height = height + "px";
    const context = target.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  function layOut() {
    const context = canvas.getContext("2d");
    context.font = "600 13px " + FONT;
    let widest = 60;
    for (const lane of lanes.slice(0, 500)) widest = Math.max(widest, context.measureText(lane.name).width);
    gutter = Math.ceil(Math.min(widest, Math.max(100, scroll.clientWidth * 0.25))) + 28;
    laneHeight = Math.floor(clamp((scroll.clientHeight - RULER - CURVE - 8) / Math.max(lanes.length, 1), 40, 64));
    barHeight = Math.round(laneHeight * 0.38);
    space.style.width = Math.ceil(gutter + (last + 2) * view.px) + "px";
    space.style.height = RULER + lanes.length * laneHeight + CURVE + 8 + "px";
  }

  function redraw() {
    if (!isQueued) {
      isQueued = true;
      requestAnimationFrame(() => { isQueued = false; draw(); });
    }
  }

  /* --- drawing ------------------------------------------------------------------------------- */

  /* Everything that the drawing of one picture needs. */
  function pictureOf(context, width, height, left, top, px) {
    return {
      context, width, height, top, px,
      x: (step) => gutter + step * px - left,
      y: (lane) => RULER + lane * laneHeight + laneHeight / 2 - top,
      first: Math.max(0, Math.floor(left / px) - 1),
      end: Math.min(last + 1, Math.ceil((left + width - gutter) / px) + 1),
      firstLane: clamp(Math.floor(top / laneHeight), 0, lanes.length),
      endLane: clamp(Math.ceil((top + height - RULER - CURVE) / laneHeight), 0, lanes.length),
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
      const object = span.kind === WAITING && span.object >= 0 ? " for " + text(span.object) : "";
      const label = room > 36 ? fit(context, WORD[span.kind] + object, room) : LETTER[span.kind];
      if (span.kind !== WAITING) {
        context.fillStyle = colour[name];
        context.fillRect(from - 3, y - 7, context.measureText(label).width + 6, 14);
        context.fillStyle = colour[name + "-ink"];
      }
      context.fillText(label, from, y + 0.5);
    }
  }

  /* Spans from left to right. Where several share a pixel, one of them is drawn. */
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
    context.lineTo(x, bottomOf(p.height));
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

  function drawPicture(p, hasCursor) {
    drawStripes(p);
    if (hasCursor) drawCursor(p);
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
    drawPicture(pictureOf(canvas.getContext("2d"), width, height, scroll.scrollLeft, scroll.scrollTop, view.px), true);
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

  /* --- the panel ----------------------------------------------------------------------------- */

  function element(name, className, string) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (string !== undefined) made.textContent = string;
    return made;
  }

  function showNow() {
    const now = byId("now"), begin = lowerBound(lines, view.step, stepOf);
    now.replaceChildren();
    for (let index = begin; index < lines.length && lines[index].step === view.step && index < begin + 60; index++) {
      const line = lines[index], isBad = Boolean(line.flags & VIOLATION);
      const row = element("p", isBad ? "bad" : line.flags & CAUSE && isFailed ? "cause" : "");
      row.append(element("b", "", run.tasks[line.task]), document.createTextNode(text(line.text)));
      now.append(row);
    }
    if (!now.firstChild) now.append(element("p", "none", "Nothing worth a line."));
    byId("step").textContent = "Step " + view.step;
    byId("clock").textContent = "virtual time " + timeText(timeAt(view.step));
  }

  function chips(list, className) {
    const cell = element("dd");
    if (list.length === 0) cell.append(element("span", "none", "–"));
    for (const item of list.slice(0, 40)) cell.append(element("span", "chip " + className, item.name));
    if (list.length > 40) cell.append(element("span", "none", "and " + (list.length - 40) + " more"));
    return cell;
  }

  function showObjects() {
    const box = byId("objects"), queues = [...queuesAfter(view.step)];
    queues.sort((a, b) => (b[0] === run.object) - (a[0] === run.object));
    box.replaceChildren();
    for (const [object, queue] of queues.slice(0, 12)) {
      const card = element("div", "object"), table = element("dl");
      card.append(element("h3", "", text(object)));
      for (const [label, list, className] of [["holders", queue.held, "holding"], ["R: woken", queue.R, "woken"],
        ["C: cancelled", queue.C, "struck"], ["W: waiting", queue.W, "waiting"]]) {
        table.append(element("dt", "", label), chips(list, className));
      }
      card.append(table);
      box.append(card);
    }
    if (queues.length > 12) box.append(element("p", "none", queues.length - 12 + " more objects"));
    if (queues.length === 0) box.append(element("p", "none", "The run has no object."));
  }

  function show() {
    showNow();
    showObjects();
    const main = document.querySelector("main");
    main.dataset.step = view.step;
    main.dataset.lane = lanes.length > 0 ? lanes[view.lane].name : "";
    main.dataset.zoom = view.px.toFixed(3);
    redraw();
  }

  /* --- moving -------------------------------------------------------------------------------- */

  function reveal() {
    const left = view.step * view.px, room = scroll.clientWidth - gutter;
    const margin = Math.min(2 * view.px, room / 4);
    if (left - margin < scroll.scrollLeft) scroll.scrollLeft = left - margin;
    if (left + view.px + margin > scroll.scrollLeft + room) scroll.scrollLeft = left + view.px + margin - room;
    const top = view.lane * laneHeight, high = scroll.clientHeight - RULER - CURVE;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    if (top + laneHeight > scroll.scrollTop + high) scroll.scrollTop = top + laneHeight - high;
  }

  function goTo(step, lane) {
    view.step = clamp(step, 0, last);
    view.lane = clamp(lane, 0, Math.max(0, lanes.length - 1));
    reveal();
    show();
  }

  function goToEvent(direction) {
    const list = lanes.length > 0 ? lanes[view.lane].lines : [];
    const index = direction > 0 ? lowerBound(list, view.step + 1, stepOf) : lowerBound(list, view.step, stepOf) - 1;
    if (index >= 0 && index < list.length) goTo(list[index].step, view.lane);
  }

  function goToViolation() {
    if (violation) goTo(verdictStep, laneOf[violation.task]);
  }

  /* Keeps what is under `x`, a place in the window of lanes, where it is. */
  function zoom(px, x) {
    const step = (scroll.scrollLeft + x - gutter) / view.px;
    view.px = clamp(px, Math.min(zoomMin(), zoomMax()), zoomMax());
    layOut();
    scroll.scrollLeft = step * view.px - x + gutter;
    show();
  }

  function zoomAtCursor(factor) {
    const x = gutter + (view.step + 0.5) * view.px - scroll.scrollLeft;
    zoom(view.px * factor, clamp(x, gutter, scroll.clientWidth));
  }

  function fitAll() {
    view.px = clamp(zoomMin(), 1e-9, 64);
    layOut();
    show();
  }

  function toggle(name, button) {
    view[name] = !view[name];
    byId(button).setAttribute("aria-pressed", String(view[name]));
    show();
  }

  const help = byId("help");
  function toggleHelp() {
    if (help.open) help.close(); else help.showModal();
  }

  const keys = {
    ArrowLeft: () => goTo(view.step - 1, view.lane),
    ArrowRight: () => goTo(view.step + 1, view.lane),
    ArrowUp: () => goTo(view.step, view.lane - 1),
    ArrowDown: () => goTo(view.step, view.lane + 1),
    Home: () => goTo(0, view.lane),
    End: () => goTo(last, view.lane),
    n: () => goToEvent(1),
    p: () => goToEvent(-1),
    v: goToViolation,
    "+": () => zoomAtCursor(1.4),
    "=": () => zoomAtCursor(1.4),
    "-": () => zoomAtCursor(1 / 1.4),
    0: fitAll,
    a: () => toggle("isAll", "arrows-button"),
    c: () => toggle("isFaded", "causes-button"),
    "?": toggleHelp,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (help.open && event.key !== "?") return;
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  scroll.addEventListener("scroll", redraw, { passive: true });
  scroll.addEventListener("click", (event) => {
    const box = scroll.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const step = Math.floor((scroll.scrollLeft + x - gutter) / view.px);
    const lane = Math.floor((scroll.scrollTop + y - RULER) / laneHeight);
    const isOnLane = y > RULER && y < bottomOf(scroll.clientHeight) && lane < lanes.length;
    view.step = x < gutter ? view.step : clamp(step, 0, last);
    view.lane = isOnLane ? lane : view.lane;
    show();
  });
  scroll.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(view.px * Math.exp(-event.deltaY / 300), event.clientX - scroll.getBoundingClientRect().left);
    }
  }, { passive: false });
  function moveOverview(event) {
    const box = overview.getBoundingClientRect();
    const step = (event.clientX - box.left) / box.width * (last + 1);
    scroll.scrollLeft = step * view.px - (scroll.clientWidth - gutter) / 2;
  }
  overview.addEventListener("pointerdown", (event) => {
    overview.setPointerCapture(event.pointerId);
    moveOverview(event);
  });
  overview.addEventListener("pointermove", (event) => { if (event.buttons & 1) moveOverview(event); });
  const onClick = (id, action) => byId(id).addEventListener("click", () => { action(); scroll.focus(); });
  onClick("violation-button", goToViolation);
  onClick("in-button", () => zoomAtCursor(1.4));
  onClick("out-button", () => zoomAtCursor(1 / 1.4));
  onClick("fit-button", fitAll);
  onClick("arrows-button", keys.a);
  onClick("causes-button", keys.c);
  byId("help-button").addEventListener("click", toggleHelp);
  new ResizeObserver(() => {
    strip = null;
    view.px = clamp(view.px, Math.min(zoomMin(), zoomMax()), zoomMax());
    layOut();
    redraw();
  }).observe(scroll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    strip = null;
    redraw();
  });

  /* --- paper --------------------------------------------------------------------------------- */

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

  /* --- the beginning ------------------------------------------------------------------------- */

  document.title = run.scenario + ": " + (run.oracle || "pass");
  byId("title").textContent = run.scenario + " with " + run.variant;
  byId("facts").textContent = [
    "order " + run.order, "seed " + run.seed, last + (last === 1 ? " step" : " steps"),
    run.tasks.length - 1 + (run.tasks.length === 2 ? " task" : " tasks"),
    run.injected + (run.injected === 1 ? " injected cancel" : " injected cancels"),
    run.own + (run.own === 1 ? " cancel" : " cancels") + " by the program",
  ].join(" · ");
  byId("oracle").textContent = run.oracle === null ? "pass" : run.oracle;
  byId("message").textContent = run.oracle === null ? "No oracle was violated." : run.message || "";
  byId("verdict").className = isFailed ? "bad" : "";
  byId("violation-button").hidden = !violation;
  byId("causes-button").hidden = !isFailed;
  byId("token").textContent = run.token === null ? "" : "buzzer replay '" + run.token + "'";
  readColours();
  layOut();
  view.px = clamp(zoomMin(), Math.min(10, zoomMax()), 64);
  layOut();
  const asked = /^#(\d+)$/.exec(location.hash);
  if (asked) view.step = clamp(Number(asked[1]), 0, last);
  reveal();
  show();
  scroll.focus();
})();
