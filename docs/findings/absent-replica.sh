#!/usr/bin/env bash
# A broker is away, a key and a group are deleted, compaction removes the tombstones, and the broker comes back and leads: both are there
# again (docs/findings/absent-replica.md). An unpacked release of Kafka, and Java: a controller and three brokers on 127.0.0.1. Four minutes.
#
#   ./absent-replica.sh kafka_2.13-4.3.1
#   ./absent-replica.sh kafka_2.13-4.3.1 control     the tombstones are kept for an hour, and the broker is away for less
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
kept_ms=$([ "${2:-}" = control ] && echo 3600000 || echo 1000)
work="$(mktemp -d)"
cd "$work" || exit
controller=127.0.0.1:29200
at=(- 127.0.0.1:29201 127.0.0.1:29202 127.0.0.1:29203)
all="${at[1]},${at[2]},${at[3]}"
pids=()
clean_up() { kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
tool() { timeout 60 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$@" 2>/dev/null; }
starts() { # NODE
    java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$libs" kafka.Kafka "$1.properties" >>"$1.log" 2>&1 &
    pids[$1]=$!
}
stops() { # NODE : cleanly
    kill "${pids[$1]}"
    wait "${pids[$1]}" 2>/dev/null
}
describe() { tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$all" --describe --topic "$1" | grep Partition:; }
leader() { describe "$1" | grep -o 'Leader: [0-9]*' | grep -o '[0-9]*'; }
in_sync() { describe "$1" | grep -o 'Isr: [0-9,]*' | grep -o '[0-9]' | wc -l; }
set_to() { # TOPIC SETTINGS
    tool kafka.admin.ConfigCommand --bootstrap-server "$all" --alter --topic "$1" --add-config "$2" >/dev/null
}
writes() { tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$all" --topic t --reader-property parse.key=true \
    --reader-property key.separator== --reader-property null.marker=NULL --command-property acks=all >/dev/null; }
reads() { tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$all" --topic t --from-beginning --timeout-ms 6000 \
    --formatter-property print.key=true --formatter-property key.separator== "$@"; }
groups() { tool org.apache.kafka.tools.consumer.group.ConsumerGroupCommand --bootstrap-server "$all" "$@"; }
commits() { groups --group "$1" --topic t --reset-offsets --to-offset "$2" --execute | grep -c "^$1 "; } # GROUP OFFSET
waits_for() { # WORDS : up to a minute
    for _ in $(seq 20); do "$@" && return; sleep 2; done
    said "in vain: $*: again"
    exit 2
}
all_in_sync() { [ "$(in_sync t)" = 3 ] && [ "$(in_sync __consumer_offsets)" = 3 ]; }

for n in 0 1 2 3; do
    cat >"$n.properties" <<END
process.roles=$([ "$n" = 0 ] && echo controller || echo broker)
node.id=$n
controller.quorum.bootstrap.servers=$controller
listeners=$([ "$n" = 0 ] && echo "CONTROLLER://$controller" || echo "PLAINTEXT://${at[$n]}")
controller.listener.names=CONTROLLER
log.dirs=$work/$n
offsets.topic.num.partitions=1
offsets.topic.replication.factor=3
log.cleaner.backoff.ms=500
auto.leader.rebalance.enable=false
END
    if [ "$n" = 0 ]; then how=--standalone; else how=--no-initial-controllers; fi
    tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$n.properties" $how >/dev/null || exit
done
for n in 0 1 2 3; do starts "$n"; done
waits_for tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$all" --create --topic t --partitions 1 --replication-factor 3 >/dev/null
echo "k=v1" | writes
commits g 1 >/dev/null
for topic in t __consumer_offsets; do
    set_to "$topic" "cleanup.policy=compact,segment.ms=1000,delete.retention.ms=$kept_ms,min.cleanable.dirty.ratio=0.01"
done
away=$(leader __consumer_offsets)
[ "$(leader t)" = "$away" ] || tool org.apache.kafka.tools.reassign.ReassignPartitionsCommand --bootstrap-server "$all" --execute \
    --reassignment-json-file <(echo "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[$away,$((away % 3 + 1)),$(((away + 1) % 3 + 1))]}]}") >/dev/null
waits_for all_in_sync
said "k=v1 is written, and group g has committed; all three have both: $(describe t | grep -o 'Isr: .*' | cut -f1)"
stops "$away"
said "broker $away, which was the leader of __consumer_offsets, is shut down cleanly"
echo "k=NULL" | writes
waits_for groups --delete --group g >/dev/null
said "k and g are deleted; groups: $(groups --list | tr '\n' ' ')"
for i in $(seq 12); do # what is cleaned has to be behind something
    echo "other=$i" | writes
    commits h "$((i % 2))" >/dev/null
done
said "what a reader finds of k: $(reads | grep '^k=' | tr '\n' ' ')"
starts "$away"
waits_for all_in_sync
tool org.apache.kafka.tools.LeaderElectionCommand --bootstrap-server "$all" --election-type preferred --all-topic-partitions >/dev/null
sleep 5
said "broker $away is back, in sync, and leads after an election of preferred leaders: t $(leader t), __consumer_offsets $(leader __consumer_offsets)"
found="$(reads | grep '^k=' | tail -n 1)"
back="$(groups --describe --group g | grep '^g ')"
said "the last of k: ${found:-nothing}; group g: ${back:-there is none}"
[ "$found" != "k=v1" ] || echo "THE DELETED KEY IS BACK"
[ -z "$back" ] || echo "THE DELETED GROUP IS BACK"
