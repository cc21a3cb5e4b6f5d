"""anyio on its asyncio backend: a limiter, tasks in a group, and cancels from outside."""
import anyio

import buzzer


async def guests(sim, table):
    at_table = 0

    async def guest():
        nonlocal at_table
        async with table:
            at_table += 1
            try:
                sim.check(at_table <= 2, f"{at_table} guests at a table for two")
                await anyio.sleep(0.1)
            finally:
                at_table -= 1

    async with anyio.create_task_group() as group:
        for number in range(4):
            sim.spawn(group, guest(), name=f"guest-{number}")
    sim.check(at_table == 0, "everybody has left")


@buzzer.test(runs=100, max_cancels=1)
async def test_table(sim):
    """At most two guests are at the table, and all places are free in the end."""
    await guests(sim, anyio.Semaphore(2))


class HastyTable:
    """Wrong on purpose: a guest who has waited does not look whether the place is still free."""

    def __init__(self, places):
        self.free = places
        self.left = anyio.Event()

    async def __aenter__(self):
        if self.free == 0:
            await self.left.wait()
        self.free -= 1

    async def __aexit__(self, *error):
        self.free += 1
        self.left.set()
        self.left = anyio.Event()


async def faulty_table(sim):
    """Two guests who wait hear of the same place."""
    await guests(sim, HastyTable(2))
