/* The visible part: step, lane, zoom, colours, the size of the canvas. */
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
    "sleeping-ink", "holding", "wakes", "cancels", "minor", "bad"]) {
    colour[name] = style.getPropertyValue("--" + name).trim();
  }
}
const FONT = 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif';
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
  laneHeight = Math.floor(clamp((scroll.clientHeight - RULER - 8) / Math.max(lanes.length, 1), 40, 64));
  barHeight = Math.round(laneHeight * 0.38);
  space.style.width = Math.ceil(gutter + (last + 2) * view.px) + "px";
  space.style.height = RULER + lanes.length * laneHeight + 8 + "px";
}

function redraw() {
  if (!isQueued) {
    isQueued = true;
    requestAnimationFrame(() => { isQueued = false; draw(); });
  }
}
