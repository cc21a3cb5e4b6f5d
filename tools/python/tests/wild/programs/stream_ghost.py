"""A send that ends as cancelled has delivered its item (anyio memory object stream)."""
import asyncio

import anyio


async def main():
    sends, receives = anyio.create_memory_object_stream(0)
    sender = asyncio.ensure_future(sends.send("item"))
    await asyncio.sleep(0.01)
    item = receives.receive_nowait()
    sender.cancel()
    await asyncio.wait([sender])
    assert sender.cancelled() and item == "item"
    print("send() was cancelled, and the receiver has its", item)

asyncio.run(main())
