"""A barrier of three lets two through: a waiter that was cancelled counts until it resumes."""
import asyncio


async def main():
    barrier = asyncio.Barrier(3)
    tasks = [asyncio.ensure_future(barrier.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    third = asyncio.ensure_future(barrier.wait())
    tasks[0].cancel()  # before the third one comes
    await third
    await asyncio.gather(*tasks, return_exceptions=True)
    assert tasks[0].cancelled() and tasks[1].result() == 1 and third.result() == 2
    print("two tasks passed a barrier of three; the other one was cancelled before the third came")

asyncio.run(main())
