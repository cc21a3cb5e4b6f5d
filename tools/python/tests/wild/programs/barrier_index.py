"""A task is cancelled at a barrier, and two others get one index (gh-155233)."""
import asyncio


async def main():
    barrier = asyncio.Barrier(3)
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)
    tasks += [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    indices = await asyncio.gather(*tasks[1:])
    print("indices", indices)
    return len(set(indices)) < 3


raise SystemExit(0 if asyncio.run(main()) else 1)
