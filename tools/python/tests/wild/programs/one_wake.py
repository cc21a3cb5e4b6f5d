"""Four permits are free, and the waiters get them one a turn (gh-111693)."""
import asyncio


async def main():
    semaphore = asyncio.Semaphore(0)
    turns = []
    turn = [0]

    async def takes():
        await semaphore.acquire()
        turns.append(turn[0])
    tasks = [asyncio.ensure_future(takes())]
    await asyncio.sleep(0)
    tasks += [asyncio.ensure_future(takes()) for _ in range(3)]
    for _ in range(4):
        semaphore.release()
    for _ in range(8):
        turn[0] += 1
        await asyncio.sleep(0)
    print("granted in turns", turns)
    return len(set(turns[1:])) > 1


raise SystemExit(0 if asyncio.run(main()) else 1)
