"""An item is handed to a receiver that is then cancelled, and is lost (anyio #728)."""
import asyncio

import anyio


async def main():
    send, receive = anyio.create_memory_object_stream(2)
    task = asyncio.ensure_future(receive.receive())
    for _ in range(6):
        await asyncio.sleep(0)
    send.send_nowait("item")
    task.cancel()
    await asyncio.wait([task])
    left = receive.statistics().current_buffer_used
    print("received:", not task.cancelled(), "- left in the buffer:", left)
    return task.cancelled() and left == 0


raise SystemExit(0 if asyncio.run(main()) else 1)
