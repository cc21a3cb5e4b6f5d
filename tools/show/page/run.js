/* The page of a run. Names and messages come from an untrusted trace: they reach the
 * page through textContent and fillText alone. Whatever is drawn is looked up by binary search, so
 * that the length of the run does not matter. */
/* First: the run, and its state after each step. */
const run = JSON.parse(document.getElementById("run").textContent);
const UNSTARTED = 0, READY = 1, RUNNING = 2, WAITING = 3, WOKEN = 4, STRUCK = 5, SLEEPING = 6, DONE = 7;
const STATE = ["unstarted", "ready", "running", "waiting", "woken", "struck", "sleeping", "done"];
const WORD = ["", "", "", "waits", "woken", "cancelled", "", ""];
const LETTER = ["", "", "", "W", "R", "C", "", ""];
const WAKE = 1, CANCEL = 2;
const CAUSE = 1, VIOLATION = 2;
const RULER = 44;
const ZOOM_MAX = 160, WIDTH_MAX = 16e6;
const byId = (id) => document.getElementById(id);
const canvas = byId("canvas"), scroll = byId("scroll"), space = byId("space");
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

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
const text = (number) => run.strings[number];
const lines = rows(run.lines, ["step", "time", "task", "text", "flags"]);
const spans = rows(run.spans, ["task", "step", "end", "kind", "object"]);
const arrows = rows(run.arrows, ["from", "to", "kind"]);
const holds = rows(run.holds, ["task", "object", "step", "end"]);
const places = rows(run.places, ["task", "object", "step", "end", "kind", "since", "woken"]);
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

/* Lanes: the loop only if the story mentions it. */
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

/* W, R, C and the owners of each object, by number from 1 on, after a step. */
function queuesAfter(step) {
  const queues = run.objects.map((name) => ({ name, W: [], R: [], C: [], held: [] }));
  const isNow = (row) => row.step <= step && row.end > step;
  for (const hold of holds.filter(isNow)) {
    queues[hold.object - 1].held.push({ name: run.tasks[hold.task], since: hold.step });
  }
  for (const place of places.filter(isNow)) {
    const name = run.tasks[place.task] + (place.woken ? " (after it was woken)" : "");
    queues[place.object - 1][LETTER[place.kind]].push({ name, since: place.since });
  }
  for (const queue of queues) {
    for (const list of [queue.W, queue.R, queue.C, queue.held]) list.sort((a, b) => a.since - b.since);
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
