/* Keys, clicks, the wheel. */
function reveal() {
  const left = view.step * view.px, room = scroll.clientWidth - gutter;
  const margin = Math.min(2 * view.px, room / 4);
  if (left - margin < scroll.scrollLeft) scroll.scrollLeft = left - margin;
  if (left + view.px + margin > scroll.scrollLeft + room) scroll.scrollLeft = left + view.px + margin - room;
  const top = view.lane * laneHeight, high = scroll.clientHeight - RULER;
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
  const isOnLane = y > RULER && lane < lanes.length;
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
const onClick = (id, action) => byId(id).addEventListener("click", () => { action(); scroll.focus(); });
onClick("violation-button", goToViolation);
onClick("in-button", () => zoomAtCursor(1.4));
onClick("out-button", () => zoomAtCursor(1 / 1.4));
onClick("fit-button", fitAll);
onClick("arrows-button", keys.a);
onClick("causes-button", keys.c);
byId("help-button").addEventListener("click", toggleHelp);
new ResizeObserver(() => {
  view.px = clamp(view.px, Math.min(zoomMin(), zoomMax()), zoomMax());
  layOut();
  redraw();
}).observe(scroll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  redraw();
});
