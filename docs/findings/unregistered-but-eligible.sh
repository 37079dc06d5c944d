#!/usr/bin/env bash
# A broker that was unregistered stays eligible, and the last known leader may not lead (docs/findings/unregistered-but-eligible.md).
# Docker and Kafka's own tools; about four minutes.
#
#   ./unregistered-but-eligible.sh                 broker 2 stops, and is unregistered for good
#   ./unregistered-but-eligible.sh replaced        it is replaced by a broker of the same id with an empty disk: 3 leads
#   IMAGE=my/kafka:patched ./unregistered-but-eligible.sh
set -eu
IMAGE="${IMAGE:-apache/kafka:4.3.1}" NET="unregistered-$$" SUBNET="${SUBNET:-10.213.92}"
BIN=/opt/kafka/bin
clean_up() {
    docker ps -aq --filter "name=^$NET-" | xargs -r docker rm -fv >/dev/null
    docker network rm "$NET" >/dev/null
}
trap clean_up EXIT

ip_of() { echo "$SUBNET.$((10 + $1))"; }
node() { # ID ROLE LISTENERS : its container, started
    docker run -d --name "$NET-$1" --network "$NET" --ip "$(ip_of "$1")" --user 0 -e KAFKA_HEAP_OPTS=-Xmx384m --entrypoint sh "$IMAGE" -c "
        cat >/tmp/p <<END
node.id=$1
process.roles=$2
listeners=$3
controller.quorum.voters=0@$(ip_of 0):9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=/tmp/data
END
        [ ! -f /tmp/wipe ] || rm -rf /tmp/data /tmp/wipe
        [ -f /tmp/data/meta.properties ] || $BIN/kafka-storage.sh format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config /tmp/p
        exec $BIN/kafka-server-start.sh /tmp/p" >/dev/null
}
tool() { docker exec -i -e KAFKA_HEAP_OPTS=-Xmx128m "$NET-0" "$BIN/$1" "${@:2}" 2>/dev/null || true; }
on() { tool "$1" --bootstrap-server "$(ip_of "$2"):9092" "${@:3}"; }
shows() { echo "$1: $(on kafka-topics.sh 3 --describe --topic t | grep 'Partition: 0')"; }
until_shown() { until on kafka-topics.sh 3 --describe --topic t | grep -q "$1"; do sleep 1; done; }
writes() { echo "$1" | on kafka-console-producer.sh "$2" --topic t --request-required-acks all; }

docker network create --subnet "$SUBNET.0/24" "$NET" >/dev/null
node 0 controller "CONTROLLER://$(ip_of 0):9093"
for n in 1 2 3; do node "$n" broker "PLAINTEXT://$(ip_of "$n"):9092"; done
until on kafka-topics.sh 3 --list | grep -qx t; do
    on kafka-topics.sh 3 --create --topic t --replica-assignment 1:2:3 --config min.insync.replicas=2
done

writes m1 1
docker stop -t 60 "$NET-1" >/dev/null
until_shown 'Isr: 2,3\|Isr: 3,2'
writes m2 3
docker stop -t 60 "$NET-2" >/dev/null
until_shown 'Isr: 3[^,]'
shows "2 has stopped"
if [ "${1:-}" = replaced ]; then
    echo >/tmp/wipe.$$; docker cp /tmp/wipe.$$ "$NET-2:/tmp/wipe"; rm /tmp/wipe.$$
else
    tool kafka-cluster.sh unregister --bootstrap-server "$(ip_of 3):9092" --id 2
    shows "2 is unregistered"
fi
docker kill "$NET-3" >/dev/null
sleep 12
docker start "$NET-3" "$NET-1" >/dev/null
sleep 40
[ "${1:-}" != replaced ] || { docker start "$NET-2" >/dev/null; sleep 40; }
shows "3 has crashed, and 1 and 3 are back"
