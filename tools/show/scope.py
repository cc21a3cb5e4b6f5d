

# --- the program: sleeps in nested timeout scopes --------------------------------------------------
#
# This is the scenario `scope` of Buzzer. The scopes are asyncio.timeout().


class CountedTask(asyncio.Task):
    """What an observer knows of the requests to cancel it."""

    requests = 0  # that were accepted
    is_pending = False  # one is on its way

    def cancel(self, msg=None):
        is_accepted = super().cancel(msg)
        self.requests += is_accepted
        self.is_pending |= is_accepted
        return is_accepted

    def uncancel(self):
        left = super().uncancel()
        if left == 0 and sys.version_info >= (3, 13):
            self.is_pending = False  # such a request is dropped
        return left


class Use:
    """One use of a scope, from enter to exit."""

    def __init__(self, task, due):
        self.cancelling, self.requests = task.cancelling(), task.requests
        self.was_pending = task.is_pending
        self.due = due
        self.taken_back = 0  # by scopes inside this one


class Scope(Scene):
    under_test = "asyncio.timeout() of Python %d.%d" % sys.version_info[:2]

    def spawn_all(self):
        self.loop.set_task_factory(lambda loop, body, **rest: CountedTask(body, loop=loop, **rest))
        self.workers = ["worker-%d" % (number + 1) for number in range(VALUES["workers"])]
        for name in self.workers:
            self.spawn(name, self.worker(name))
        self.spawn("canceller", self.canceller())

    def draw_ns(self, label):
        return self.draw(label, VALUES["sleep-ns"] + 1)

    async def nap(self):
        task, name = asyncio.current_task(), self.me()
        delay = self.draw_ns("sleep-ns")
        try:
            await asyncio.sleep(delay)
            status = "ok"
        except asyncio.CancelledError:
            task.is_pending = False
            status = "cancelled"
        self.say(name, "sleep of %d ns: %s" % (delay, status))
        return status

    async def enter(self, outer, delay, body):
        """A scope around the body, and what must hold when it is left."""
        task, name = asyncio.current_task(), self.me()
        use = Use(task, self.loop.now + delay)
        inside = "cancelled"
        try:
            async with asyncio.timeout(delay):
                inside = await body(use)
                if inside == "cancelled":
                    raise asyncio.CancelledError
            status = inside
        except asyncio.CancelledError:
            status = "cancelled"
        except TimeoutError:
            status = "timed-out"
        self.say(name, "scope of %d ns: %s" % (delay, status))
        self.check_exit(task, name, use, outer, inside, status)
        return status

    def check_exit(self, task, name, use, outer, inside, status):
        requests = task.requests - use.requests - use.taken_back
        count, due = task.cancelling(), use.cancelling + requests
        has_taken = requests > 0 and count + 1 == due
        has_turned = inside == "cancelled" and status == "timed-out"
        was_asked = use.was_pending or requests > 1
        if (count != due and not has_taken) or (has_turned and not has_taken):
            self.fault("cancel-count: %s: a timeout scope left with a wrong number of requests "
                       "(cancelling: %d, due: %d)" % (name, count, due))
        elif has_taken and self.loop.now < use.due:
            self.fault("cancel-count: %s: a timeout scope took back a request before its deadline"
                       % name)
        elif status != inside and not has_turned:
            self.fault("cancel-count: %s: a timeout scope changed a status that is not its own"
                       % name)
        elif has_turned and was_asked and not task.is_pending:
            self.fault("cancel-count: %s: a timeout scope swallowed somebody else's cancel request: "
                       "it returned 'timed-out' and should have returned 'cancelled'" % name)
        elif has_taken and not was_asked and inside == "cancelled" and not has_turned:
            self.fault("cancel-count: %s: a timeout scope expired, and nobody else had requested a "
                       "cancel: it returned 'cancelled' and should have returned 'timed-out'" % name)
        if outer is not None:
            outer.taken_back += use.taken_back + has_taken

    async def sleep_in_scope(self, outer, delay):
        async def body(use):
            return await self.nap()

        return await self.enter(outer, delay, body)

    async def sleep_nested(self):
        async def body(use):
            status = await self.sleep_in_scope(use, self.draw_ns("inner-ns"))
            if status in ("ok", "timed-out"):
                status = await self.nap()
            if status == "cancelled":  # the clean-up has a deadline of its own
                await self.sleep_in_scope(use, self.draw_ns("cleanup-ns"))
            return status

        return await self.enter(None, self.draw_ns("outer-ns"), body)

    async def sleep_cancelled(self):
        self.say(self.me(), "cancels itself")
        asyncio.current_task().cancel()
        return await self.sleep_in_scope(None, 0)

    async def worker(self, name):
        status = "ok"
        for _ in range(VALUES["rounds"]):
            cancels_itself = self.draw("self", 4) == 1
            status = await (self.sleep_cancelled() if cancels_itself else self.sleep_nested())
            if status not in ("ok", "timed-out"):
                break
        if status == "cancelled":
            if asyncio.current_task().cancelling() == 0:
                self.fault("assertion: %s was cancelled without a request" % name)
            await self.sleep_in_scope(None, self.draw_ns("cleanup-ns"))

    async def canceller(self):
        for _ in range(VALUES["cancels"]):
            if await self.nap() != "ok":
                return
            victim = self.workers[self.draw("victim", len(self.workers))]
            self.say("canceller", "cancels %s" % victim)
            self.tasks[victim].cancel()

    def finish(self):
        pass


if __name__ == "__main__":
    if not hasattr(asyncio, "timeout"):
        print("nothing is tested: asyncio.timeout() is new in Python 3.11")
        sys.exit(0)
    play(Scope)
