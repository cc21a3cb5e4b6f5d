"""A receiver that has its item loses a cancel: the policy before anyio's #728."""
import asyncio

import anyio


async def main():
    sends, receives = anyio.create_memory_object_stream(1)
    receiver = asyncio.ensure_future(receives.receive())
    await asyncio.sleep(0.01)
    sends.send_nowait("item")
    assert receiver.cancel()
    await asyncio.wait([receiver])
    assert not receiver.cancelled() and receiver.result() == "item"
    print("cancel() was accepted, and the task returned", receiver.result())

asyncio.run(main())
