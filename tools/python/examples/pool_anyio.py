"""anyio on its asyncio backend: a limiter, tasks in a group, and cancels from outside."""
import anyio

import buzzer


@buzzer.test(runs=100, max_cancels=1)
async def test_table(sim):
    """At most two guests are at the table, and all places are free in the end."""
    table = anyio.Semaphore(2)
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
