/* The lanes: what is in the window is made anew whenever the window, the cursor or the zoom has
 * moved. Pieces have their places in the whole run, so that scrolling moves them. */
const view = { px: 24, step: verdictStep, lane: 0, isAll: false, isFaded: false };
if (violation) view.lane = Math.max(0, laneOf[violation.task]);
const space = byId("space"), ruler = byId("ruler"), names = byId("names"), picture = byId("picture");
let gutter = 120; /* the width of the names */
let laneHeight = 44; /* few lanes are higher */
let isQueued = false;
const zoomMin = () => Math.min(ZOOM_MAX, Math.max((scroll.clientWidth - gutter - 24) / (last + 2), 1e-9));
const zoomMax = () => Math.min(ZOOM_MAX, WIDTH_MAX / (last + 2));
const xOf = (step) => gutter + step * view.px;
const middleOf = (step) => xOf(step) + view.px / 2;
const yOf = (lane) => RULER + (lane + 0.5) * laneHeight;

function element(name, className, string) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (string !== undefined) made.textContent = string;
  return made;
}

/* A piece whose class says how it looks, and how high it is unless that is given. */
function put(parent, className, place, string) {
  const made = element("div", className, string);
  for (const [side, pixels] of Object.entries(place)) made.style[side] = pixels + "px";
  parent.append(made);
}

function layOut() {
  names.style.maxWidth = Math.max(100, scroll.clientWidth * 0.25) + "px";
  gutter = names.offsetWidth;
  byId("corner").style.width = gutter + "px";
  laneHeight = Math.floor(clamp((scroll.clientHeight - RULER - 8) / Math.max(lanes.length, 1), 40, 64));
  space.style.setProperty("--lane", laneHeight + "px");
  space.style.setProperty("--px", view.px + "px");
  space.style.width = Math.ceil(gutter + (last + 2) * view.px) + "px";
  space.style.height = RULER + lanes.length * laneHeight + 8 + "px";
}

function niceInterval() {
  let interval = 1;
  for (let round = 0; interval * view.px < 44; round++) interval *= round % 3 === 1 ? 2.5 : 2;
  return Math.max(1, Math.round(interval));
}

/* Steps above, the virtual clock below. */
function drawRuler(first, end) {
  const interval = niceInterval();
  let until = -Infinity;
  ruler.replaceChildren(byId("corner"));
  for (let step = Math.ceil(first / interval) * interval; step < end; step += interval) {
    put(ruler, "number", { left: middleOf(step) }, String(step));
  }
  put(ruler, "number here", { left: middleOf(view.step) }, String(view.step));
  for (let index = Math.max(0, lowerBound(ticks, first, stepOf) - 1); index < ticks.length; index++) {
    const { step, time } = ticks[index], x = Math.max(xOf(step), scroll.scrollLeft + gutter);
    if (step >= end) break;
    if (x < until) continue;
    put(ruler, "time", { left: x }, timeText(time));
    until = x + 8 * timeText(time).length + 16;
  }
}

/* Spans that share a pixel with an earlier one are left out. The words of a span stay in sight. */
function drawSpans(lane, first, end) {
  const list = lanes[lane].spans;
  let until = -Infinity;
  for (let index = Math.max(0, lowerBound(list, first, stepOf) - 1); index < list.length && list[index].step < end; index++) {
    const span = list[index], right = xOf(span.end);
    const left = Math.max(xOf(span.step), scroll.scrollLeft + gutter - 4), width = Math.max(right - left, 1);
    if (span.kind === DONE || right < until + 2) continue;
    until = right;
    const object = span.kind === WAITING && span.object > 0 ? " for " + run.objects[span.object - 1] : "";
    const room = width - (span.kind === WAITING ? 0 : view.px / 2);
    const label = room > 48 ? WORD[span.kind] + object : room > 16 ? LETTER[span.kind] : "";
    put(picture, "span " + STATE[span.kind], { left, top: yOf(lane), width }, label);
  }
}

function drawHolds(lane, first, end) {
  let until = -Infinity;
  for (const hold of lanes[lane].holds) {
    const left = Math.max(middleOf(hold.step), until), right = xOf(Math.min(hold.end + 0.5, last + 1));
    if (hold.step < end && hold.end >= first && right > left + 0.5) {
      put(picture, "holding", { left, top: yOf(lane), width: right - left });
      until = right;
    }
  }
}

/* A dot for the lines of a step, and their words where there is room. */
function drawLines(lane, first, end) {
  const list = lanes[lane].lines;
  let until = -Infinity;
  for (let index = lowerBound(list, first, stepOf); index < list.length && list[index].step < end; index++) {
    const line = list[index], left = middleOf(line.step);
    if (view.px < 7 || left < until) continue;
    until = left + 3;
    put(picture, line.flags & CAUSE && isFailed ? "dot cause" : "dot", { left, top: yOf(lane) });
    if (view.px >= 84) put(picture, "words", { left, top: yOf(lane), width: view.px - 6 }, text(line.text));
  }
}

/* Along the lane of the cause, and then to the other lane. One of those that share their pixels. */
function drawArrows(first, end) {
  const isSeen = new Set();
  const isInView = (line) => line.step >= first && line.step < end;
  for (const arrow of arrows) {
    const name = arrow.kind === WAKE ? "wakes" : arrow.kind === CANCEL ? "cancels" : "minor";
    if ((name === "minor" && !view.isAll) || !(isInView(arrow.from) || isInView(arrow.to))) continue;
    const from = yOf(laneOf[arrow.from.task]), to = yOf(laneOf[arrow.to.task]);
    const left = middleOf(arrow.from.step), width = middleOf(arrow.to.step) - left;
    const place = [Math.round(left / 2), Math.round(width / 2), from, to, name].join(" ");
    if (isSeen.has(place)) continue;
    isSeen.add(place);
    put(picture, ["arrow", name, from < to ? "down" : "up", arrow.isCause ? "cause" : ""].join(" "),
      { left, width, top: Math.min(from, to), height: Math.abs(to - from) });
  }
}

function draw() {
  const left = scroll.scrollLeft / view.px, top = (scroll.scrollTop - RULER) / laneHeight;
  const first = Math.max(0, Math.floor(left) - 1);
  const end = Math.min(last + 1, Math.ceil(left + scroll.clientWidth / view.px) + 1);
  picture.replaceChildren();
  picture.className = view.isFaded && isFailed ? "faded" : "";
  put(picture, "cursor", { left: xOf(view.step), top: 0, width: Math.max(view.px, 3), height: space.offsetHeight });
  put(picture, "cursor", { left: 0, top: yOf(view.lane - 0.5), width: space.offsetWidth, height: laneHeight });
  const isNear = (lane) => lane > top - 1 && lane < top + 1 + scroll.clientHeight / laneHeight;
  lanes.forEach((_, lane) => {
    names.children[lane].className = lane === view.lane ? "chosen" : "";
    if (isNear(lane)) {
      drawSpans(lane, first, end);
      drawHolds(lane, first, end);
      drawLines(lane, first, end);
    }
  });
  drawArrows(first, end);
  if (violation) {
    put(picture, "bad line", { left: middleOf(verdictStep), top: RULER, height: space.offsetHeight - RULER });
    put(picture, "bad mark", { left: middleOf(verdictStep), top: yOf(laneOf[violation.task]) }, "×");
  }
  drawRuler(first, end);
}

function redraw() {
  if (!isQueued) {
    isQueued = true;
    requestAnimationFrame(() => { isQueued = false; draw(); });
  }
}
