/* The beginning. Last: everything else is there. */
document.title = run.scenario + ": " + run.verdict;
byId("title").textContent = run.scenario + " with " + run.variant;
byId("facts").textContent = [
  "order " + run.order, "seed " + run.seed, last + (last === 1 ? " step" : " steps"),
  run.tasks.length - 1 + (run.tasks.length === 2 ? " task" : " tasks"),
  run.injected + (run.injected === 1 ? " injected cancel" : " injected cancels"),
  run.own + (run.own === 1 ? " cancel" : " cancels") + " by the program",
].join(" · ");
byId("oracle").textContent = run.verdict;
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
