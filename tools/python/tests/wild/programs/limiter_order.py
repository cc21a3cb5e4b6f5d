"""A CapacityLimiter grants its token to the last that came (#538)."""
import anyio


async def main():
    limiter = anyio.CapacityLimiter(1)
    served = []

    async def borrows(number):
        async with limiter:
            served.append(number)
            await anyio.sleep(0.01)
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(borrows, number)
    assert served == [0, 3, 2, 1], served
    print("served:", served)

anyio.run(main)
