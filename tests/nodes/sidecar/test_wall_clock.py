"""What time a JVM believes it is."""

import asyncio
import time

from tidemark.nodes.sidecar.wall_clock import WallClock


def now_us():
    return time.monotonic_ns() // 1000


def run(test):
    return asyncio.run(asyncio.wait_for(test, 20))


def test_the_latest_line_tells():
    async def never():
        raise AssertionError

    async def test():
        clock = WallClock(never)
        clock.saw(now_us(), 5_000_000)
        seen = now_us()
        clock.saw(seen, 9_000_000)
        await clock.refresh()
        assert clock.wall_us(seen + 7) == 9_000_007

    run(test())


def test_an_old_line_is_not_enough():
    async def test():
        async def poke():
            asyncio.get_running_loop().call_later(0.01, lambda: clock.saw(now_us(), now_us() + 77))

        clock = WallClock(poke)
        clock.saw(now_us() - 2_000_000, 5)
        await clock.refresh()
        assert abs(clock.wall_us(1000) - 1077) < 50

    run(test())


def test_a_jvm_that_says_nothing():
    async def test():
        async def poke():
            raise ConnectionRefusedError

        clock = WallClock(poke)
        clock.saw(now_us() - 2_000_000, 5)
        await clock.refresh()

        async def silent():
            pass

        clock = WallClock(silent)
        clock.saw(10, 5)
        await clock.refresh()
        assert clock.wall_us(20) == 15

    run(test())
