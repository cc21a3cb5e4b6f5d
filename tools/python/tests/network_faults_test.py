"""Known faults of clients that pool connections, found in the real libraries within 200 runs: with
their own transports, on the network in memory, against servers of the examples."""
import asyncio
import importlib
import importlib.util
import os
import sys

from harness import Checks, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
COUNT = 3
MODULES = {}  # by name: imported before the first run, of which it would else be a part


async def answers_of_redis(sim):
    """redis-py #2624: the answer to a cancelled command goes to the next one."""
    client_redis, redis = MODULES["client_redis"], MODULES["redis"]
    async with await asyncio.start_server(client_redis.Server().handle, "redis", 6379):
        client = redis.asyncio.Redis(host="redis", decode_responses=True,
                                     single_connection_client=True)
        await client.ping()

        async def worker(number):
            try:
                await client.set(f"key {number}", f"value {number}")
                value = await client.get(f"key {number}")
            except redis.exceptions.ConnectionError:
                return
            sim.check(value == f"value {number}", f"key {number} has {value}")
        await asyncio.wait([sim.spawn(None, worker(number)) for number in range(COUNT)])
        await client.close()


async def pool_of_httpcore(sim):
    """httpcore #830: a request that is cancelled while it connects keeps its place in the pool."""
    client_httpx, httpx = MODULES["client_httpx"], MODULES["httpx"]

    async def answer(body):
        return body.upper()
    server = client_httpx.uvicorn.Server(client_httpx.uvicorn.Config(
        client_httpx.app_of(answer), host="server", port=80, http="h11", lifespan="off",
        log_config=None))
    sim.background(server.serve())
    while not server.started:
        await asyncio.sleep(0.1)
    limits = httpx.Limits(max_connections=1)
    async with httpx.AsyncClient(limits=limits, timeout=None, verify=False) as client:
        async def request():
            await client.post("http://server/", content="text")
        await asyncio.wait([sim.spawn(None, request()) for _ in range(COUNT)])
        await asyncio.wait_for(request(), 60)


async def connector_of_aiohttp(sim):
    """aiohttp #9670: a waiter that is cancelled after it was woken leaves the others asleep."""
    client_aiohttp, aiohttp = MODULES["client_aiohttp"], MODULES["aiohttp"]

    async def handler(request):
        return client_aiohttp.web.Response(text=await request.text())
    runner = await client_aiohttp.serve(handler)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
        async def request():
            async with session.post("http://server/", data="text") as response:
                await response.text()
        await asyncio.wait([sim.spawn(None, request()) for _ in range(COUNT)])
    await runner.cleanup()


def is_before(module, needed, fixed):
    for name in (module, *needed):
        if importlib.util.find_spec(name) is None:
            print(f"skipped: the package {name} is missing")
            return False
        MODULES[name] = importlib.import_module(name)
    version = MODULES[module].__version__
    is_there = tuple(int(part) for part in version.split(".")[:3]) < fixed
    if not is_there:
        print(f"skipped: {module} {version} has it no more")
    return is_there


def main():
    checks = Checks()
    for test, module, needed, fixed, oracle, message in (
            (answers_of_redis, "redis", ("redis.asyncio", "client_redis"), (4, 5, 3),
             "assertion", "has OK"),
            (pool_of_httpcore, "httpcore", ("httpx", "uvicorn", "client_httpx"), (1, 0, 0),
             "assertion", "TimeoutError"),
            (connector_of_aiohttp, "aiohttp", ("client_aiohttp",), (3, 10, 11),
             "assertion", "TimeoutError")):
        if not is_before(module, needed, fixed) or len(sys.argv) > 1 and test.__name__ not in sys.argv:
            continue
        report = run(test, "--order", "fifo", "--keep-going", "--no-shrink", runs=200) or {}
        found = [one for one in report.get("violations", ())
                 if one["oracle"] == oracle and message in one["message"]
                 and "not confirmed" not in one["message"]]
        checks.check(found, f"{test.__name__} finds {message}: "
                     f"{[one['message'] for one in report.get('violations', ())]}")
        for one in found:
            print(f"{test.__name__}: seed {one['seed']}: {one['message']}")
    checks.end()


if __name__ == "__main__":
    main()
