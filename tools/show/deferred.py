

# --- the program: a crowd at a semaphore of Deferreds ----------------------------------------------
#
# This is the scenario `deferred` of Buzzer. The semaphore is Twisted's, the tasks are asyncio's.

try:
    from twisted.internet import defer
    from twisted import __version__ as twisted_version
except ImportError:
    defer, twisted_version = None, "?"


class Client:
    ticket = 0  # in order of asking
    hold = 0  # yields for which its task holds the permit
    is_asking = False  # no answer yet
    is_refused = False  # its request is being taken back
    has_gone = False  # its task does not wait any more

    def __init__(self, name):
        self.name = name


class Crowd(Scene):
    under_test = "DeferredSemaphore of Twisted %s" % twisted_version

    def spawn_all(self):
        self.semaphore = defer.DeferredSemaphore(VALUES["permits"])
        self.tickets = self.holders = self.depth = 0
        self.clients = [Client("client-%d" % (number + 1)) for number in range(VALUES["crowd"])]
        for client in self.clients:
            self.spawn(client.name, self.body(client))
        self.spawn("canceller", self.canceller())

    # --- callbacks

    def release(self):
        self.holders -= 1
        self.semaphore.release()

    def take_back(self, client):
        client.is_refused = True
        client.request.cancel()

    def on_granted(self, client):
        self.holders += 1
        if self.holders > VALUES["permits"]:
            self.fault("mutual-exclusion: too many clients hold a permit (holders: %d, permits: %d)"
                       % (self.holders, VALUES["permits"]))
        for other in self.clients:
            if other.is_asking and not other.is_refused and other.ticket < client.ticket:
                self.fault("fifo: %s got its permit before %s, who had asked earlier"
                           % (client.name, other.name))
        client.hold = 0 if client.has_gone else self.draw("hold", VALUES["hold"] + 1)
        if client.hold == 0:
            self.release()

    def on_refused(self, client, failure):
        if not failure.check(defer.CancelledError):
            self.fault("status: %s was answered with %s" % (client.name, failure.type.__name__))
        elif not client.is_refused:
            self.fault("assertion: %s got cancelled without a request" % client.name)
        if self.draw("leave-together", 2) == 1:
            for other in self.clients:
                if other.is_asking and not other.is_refused:
                    self.take_back(other)
                    return

    def answer(self, client, result):
        client.is_asking = False
        self.depth += 1
        is_granted = result is self.semaphore
        self.say(client.name, "its callback runs, depth %d: %s"
                 % (self.depth, "granted" if is_granted else "refused"))
        if self.depth == VALUES["nesting"] + 1:
            self.fault("assertion: callbacks nest %d deep; %d is the most"
                       % (self.depth, VALUES["nesting"]))
        if is_granted:
            self.on_granted(client)
        else:
            self.on_refused(client, result)
        self.depth -= 1
        if not client.answered.done():
            client.answered.set_result(is_granted)

    # --- tasks

    async def yield_times(self, times):
        for _ in range(times):
            await asyncio.sleep(0)

    async def ask(self, client):
        client.answered = self.loop.create_future()
        self.tickets += 1
        client.ticket, client.hold, client.is_refused, client.is_asking = self.tickets, 0, False, True
        self.say(client.name, "asks for a permit")
        client.request = self.semaphore.acquire()
        client.request.addBoth(lambda result: self.answer(client, result))
        status = "ok"
        try:
            await client.answered
        except asyncio.CancelledError:
            status = "cancelled"
        if client.is_asking:
            client.has_gone = True
            self.take_back(client)
        if client.hold > 0:
            try:
                await self.yield_times(client.hold if status == "ok" else 0)
            except asyncio.CancelledError:
                status = "cancelled"
            self.say(client.name, "releases its permit")
            self.release()
        return status

    async def body(self, client):
        for _ in range(VALUES["rounds"]):
            try:
                await self.yield_times(self.draw("arrival", VALUES["arrival"] + 1))
            except asyncio.CancelledError:
                return
            if await self.ask(client) != "ok":
                return

    async def canceller(self):
        for _ in range(VALUES["cancels"]):
            try:
                await self.yield_times(self.draw("patience", VALUES["patience"]))
            except asyncio.CancelledError:
                return
            asking = [client for client in self.clients if client.is_asking]
            if asking:
                victim = asking[self.draw("victim", len(asking))]
                self.say("canceller", "cancels %s" % victim.name)
                self.tasks[victim.name].cancel()

    # --- what must hold at the end

    def finish(self):
        unanswered = sum(client.is_asking for client in self.clients)
        if unanswered > 0:
            self.fault("assertion: requests never answered: %d" % unanswered)
        if self.holders != 0:
            self.fault("assertion: permits still held: %d" % self.holders)
        if self.semaphore.tokens != VALUES["permits"] - self.holders:
            self.fault("permit-conservation: free permits: %d, due: %d"
                       % (self.semaphore.tokens, VALUES["permits"] - self.holders))


if __name__ == "__main__":
    if defer is None:
        print("this program needs Twisted (Debian: python3-twisted)", file=sys.stderr)
        sys.exit(2)
    play(Crowd)
