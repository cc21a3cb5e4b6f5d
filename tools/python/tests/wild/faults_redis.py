"""The fault of redis-py, on the network in memory."""
import network_faults_test as network
from entries import fault

if network.is_before("redis", ("redis.asyncio", "client_redis"), (4, 5, 3)):
    fault("REDIS-2624", "redis-py #2624", "before 4.5.3", ["assertion"], "answers", of="redis",
          message="has OK", runs=200)(network.answers_of_redis)
