/* The panel: what happened in the step under the cursor, and the queues after it. */
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
  const box = byId("objects"), queues = queuesAfter(view.step), own = queues[run.object - 1];
  queues.sort((a, b) => (b === own) - (a === own));
  box.replaceChildren();
  for (const queue of queues.slice(0, 12)) {
    const card = element("div", "object"), table = element("dl");
    card.append(element("h3", "", queue.name));
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
