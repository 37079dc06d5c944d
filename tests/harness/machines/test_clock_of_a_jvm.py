"""A JVM under libfaketime, as the start script sets it up, stands still when it has nothing to do."""

import pytest

from tidemark.harness.machines.node_places import Places
from tidemark.harness.machines.node_script import NodeScripts

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.slow, pytest.mark.systems]

IDLE_TICKS = 25
"""Of the processor, 10 ms each, in 3 s: a spinning thread takes 300 of them, an idle ZooKeeper 1. One that has just started
on a busy machine takes longer until it is idle: it has eight times 3 s to show three quiet seconds, and who spins never does."""

ZOOKEEPER = """
printf 'tickTime=500\\ndataDir=/tmp/z\\nclientPort=2181\\nadmin.enableServer=false\\n' >/tmp/zoo.cfg
echo +3600 >{offset}
{environment} java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' \
 -Dorg.slf4j.simpleLogger.showDateTime=true -Dorg.slf4j.simpleLogger.dateTimeFormat=HH \
 org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zoo.cfg >/tmp/out 2>&1 &
pid=$!
until grep -q 'binding to port' /tmp/out; do sleep 0.1; done
ticks() {{ echo $(( $(cut -d ' ' -f 14,15 /proc/$pid/stat | tr ' ' +) )); }}
for window in 1 2 3 4 5 6 7 8; do
  before=$(ticks)
  sleep 3
  used=$(( $(ticks) - before ))
  [ $used -ge {quiet} ] || break
done
echo "$used $(date -u +%H) $(tail -n 1 /tmp/out | cut -c -2)"
"""


def test_a_jvm_whose_clock_is_moved_does_not_spin(engine, kafka_image):
    places = Places()
    start = NodeScripts(places).start(1, fake_clock=True)
    (line,) = (line for line in start.splitlines() if " setsid " in line)
    script = ZOOKEEPER.format(environment=line.partition(" setsid ")[0], offset=places.faketime, quiet=IDLE_TICKS)
    script = f"mkdir -p $(dirname {places.faketime}); {script}"
    said = engine.containers.run(
        kafka_image("2.8.2"), ["-c", script], entrypoint="sh", network_mode="none", remove=True
    )
    ticks, hour, its_hour = map(int, said.decode().split()[-3:])
    assert ticks < IDLE_TICKS
    assert its_hour in ((hour + 1) % 24, (hour + 2) % 24)
