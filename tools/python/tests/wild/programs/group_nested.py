"""A group inside another reports its own error, and the request of the outer one is lost."""
import asyncio


async def main():
    went_on = []

    async def fails(error):
        await asyncio.sleep(0)
        raise error
    try:
        async with asyncio.TaskGroup() as outer:
            outer.create_task(fails(KeyError()))
            try:
                async with asyncio.TaskGroup() as inner:
                    inner.create_task(fails(ValueError()))
            except* ValueError:
                pass
            await asyncio.sleep(0)
            went_on.append(asyncio.current_task().cancelling())
    except* KeyError:
        pass
    assert went_on and went_on[0] > 0, went_on
    print("the body of the outer group ran on after its child had failed")

asyncio.run(main())
