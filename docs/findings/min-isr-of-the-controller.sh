#!/usr/bin/env bash
# With eligible leader replicas the controller's min.insync.replicas counts, and not the brokers' (docs/findings/min-isr-of-the-controller.md).
# An unpacked release of Kafka, and Java: a controller and two brokers on 127.0.0.1, whose files say min.insync.replicas=2. A minute.
#
#   ./min-isr-of-the-controller.sh kafka_2.13-4.3.1              ELR is switched on in a cluster without it, as an upgrade does
#   ./min-isr-of-the-controller.sh kafka_2.13-4.3.1 new          a new cluster, which has ELR
#   ./min-isr-of-the-controller.sh kafka_2.13-4.3.1 controlled   as the first; the control: the controller's file says 2 as well
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
how="${2:-upgraded}"
work="$(mktemp -d)"
cd "$work" || exit
pids=()
clean_up() { kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
port() { echo "127.0.0.1:$((29400 + $1))"; }
tool() { timeout 60 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$@" 2>&1; }
starts() { java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$libs" kafka.Kafka "$1.properties" >"$1.log" 2>&1 & pids[$1]=$!; }
stops() { kill "${pids[$1]}"; wait "${pids[$1]}" 2>/dev/null; }
topics() { tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$(port "$1")" "${@:2}"; }
shows() { topics 1 --describe --topic t | grep 'Partition: 0' | grep -q "$1"; }
waits() { # COMMAND... : until it succeeds
    for _ in $(seq 30); do "$@" && return; sleep 1; done
    said "in vain: $*"
    exit 2
}
writes() { # RECORD : with acks=all, and says what came of it
    if echo "$1" | tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$(port 1)" --topic t --request-required-acks all \
        --message-send-max-retries 0 | grep -q 'fewer in-sync replicas\|NotEnoughReplicas'; then said "$1 is refused"; else said "$1 is acknowledged"; fi
}
reads() { tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$(port 1)" --topic t --from-beginning --timeout-ms 8000 | grep -c "^$1$"; }
min_isr() { tool kafka.admin.ConfigCommand --bootstrap-server "$(port 1)" --entity-type topics --entity-name t --describe --all | grep -o 'min.insync.replicas=[0-9]*' | head -n 1; }

for n in 0 1 2; do
    cat >"$n.properties" <<END
process.roles=$([ "$n" = 0 ] && echo controller || echo broker)
node.id=$n
controller.quorum.voters=0@$(port 0)
listeners=$([ "$n" = 0 ] && echo CONTROLLER || echo PLAINTEXT)://$(port "$n")
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs=$work/$n
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
END
    [ "$n" = 0 ] && [ "$how" != controlled ] || echo min.insync.replicas=2 >>"$n.properties"
    elr="--feature eligible.leader.replicas.version=$([ "$how" = new ] && echo 1 || echo 0)"
    # shellcheck disable=SC2086
    tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$n.properties" $elr >/dev/null
done
for n in 0 1 2; do starts "$n"; done
for n in 1 2; do waits grep -q 'Kafka Server started' "$n.log"; done
topics 1 --create --topic t --replica-assignment 1:2 >/dev/null
waits shows 'Isr: 1,2\|Isr: 2,1'
stops 2
waits shows 'Isr: 1[^,]'
said "1 is alone in the ISR; $(min_isr)"
if [ "$how" != new ]; then
    writes m1
    tool org.apache.kafka.tools.FeatureCommand --bootstrap-server "$(port 1)" upgrade --feature eligible.leader.replicas.version=1 | grep upgraded
    sleep 2
    said "ELR is on; $(min_isr)"
fi
writes m2
stops 1
rm -rf "$work/1"
tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config 1.properties >/dev/null
starts 1
waits grep -q 'Kafka Server started' 1.log
starts 2
waits grep -q 'Kafka Server started' 2.log
waits shows 'Isr: 1,2\|Isr: 2,1'
said "1 has lost its disk, and is back, and so is 2; what is read of m2: $(reads m2) records"
