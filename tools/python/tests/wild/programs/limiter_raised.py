"""total_tokens is raised, a waiter leaves its event in the queue, and newcomers wait (#646)."""
import anyio


async def main():
    limiter = anyio.CapacityLimiter(1)

    async def borrows():
        async with limiter:
            await anyio.sleep(1)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(borrows)
        await anyio.sleep(0.01)
        limiter.total_tokens = 3
        await anyio.sleep(0.01)
        free = limiter.available_tokens
        with anyio.move_on_after(0.01) as scope:
            await limiter.acquire()
        assert free == 1 and scope.cancel_called, (free, scope.cancel_called)
        print("a token was free, and a newcomer had to wait")
        group.cancel_scope.cancel()

anyio.run(main)
