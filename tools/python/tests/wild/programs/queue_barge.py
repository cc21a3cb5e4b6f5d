"""A put that waits is overtaken by one that comes later (gh-83055: a queue is not fair)."""
import asyncio


async def main():
    queue = asyncio.Queue(1)
    queue.put_nowait("a")
    putter = asyncio.ensure_future(queue.put("b"))
    await asyncio.sleep(0)
    items = [queue.get_nowait()]
    queue.put_nowait("c")
    items += [await queue.get(), await queue.get()]
    await putter
    print("items", items)
    return items == ["a", "c", "b"]


raise SystemExit(0 if asyncio.run(main()) else 1)
