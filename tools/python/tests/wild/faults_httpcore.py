"""The fault of httpcore's pool, on the network in memory."""
import network_faults_test as network
from entries import fault

if network.is_before("httpcore", ("httpx", "uvicorn", "client_httpx"), (1, 0, 0)):
    fault("HTTPCORE-830", "httpcore #830", "before 1.0", ["assertion"], "place_in_pool",
          of="httpcore", message="TimeoutError", runs=200)(network.pool_of_httpcore)
