#!/usr/bin/env bash
# A broker is away while a transaction is aborted, compaction removes the marker, and the broker comes back and leads: what was aborted is
# committed, or nothing that comes later can be read (docs/findings/absent-replica.md). An unpacked release of Kafka, and Java: a controller and
# three brokers on 127.0.0.1. Five minutes. AbsentTransaction.java lies beside it.
#
#   ./absent-transactions.sh kafka_2.13-4.3.1
#   ./absent-transactions.sh kafka_2.13-4.3.1 control     markers are kept for an hour, and the broker is away for less
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
program="$(cd "$(dirname "$0")" && pwd)/AbsentTransaction.java"
kept_ms=$([ "${2:-}" = control ] && echo 3600000 || echo 1000)
work="$(mktemp -d)"
cd "$work" || exit
controller=127.0.0.1:29210
at=(- 127.0.0.1:29211 127.0.0.1:29212 127.0.0.1:29213)
all="${at[1]},${at[2]},${at[3]}"
pids=()
clean_up() { kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
tool() { timeout 90 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$@" 2>/dev/null; }
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
writes() { tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$all" --topic "$1" --reader-property parse.key=true \
    --reader-property key.separator== --command-property acks=all >/dev/null; }
within=8000 level=read_committed
reads() { # TOPIC WORDS
    tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$all" --topic "$1" --timeout-ms $within \
        --isolation-level $level --formatter-property print.key=true --formatter-property key.separator== "${@:2}" | grep = | tr '\n' ' '
}
groups() { tool org.apache.kafka.tools.consumer.group.ConsumerGroupCommand --bootstrap-server "$all" "$@"; }
offset_of() { groups --describe --group "$1" | awk -v topic="$2" '$2 == topic { print $4 }'; } # GROUP TOPIC
commits() { groups --group "$1" --topic "$2" --reset-offsets --to-offset "$3" --execute | grep -c "^$1 "; } # GROUP TOPIC OFFSET
waits_for() { # WORDS : up to a minute
    for _ in $(seq 20); do "$@" && return; sleep 2; done
    said "in vain: $*: again"
    cat program.err 2>/dev/null
    exit 2
}
all_in_sync() { for topic in t1 t2 __consumer_offsets; do [ "$(in_sync $topic)" = 3 ] || return; done; }
asks() { # WORDS : the program does it
    echo "$*" >&3
    waits_for grep -q "done: $*" program.log
}

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
transaction.state.log.num.partitions=1
log.cleaner.backoff.ms=500
producer.id.expiration.ms=$((kept_ms * 5))
producer.id.expiration.check.interval.ms=1000
auto.leader.rebalance.enable=false
END
    if [ "$n" = 0 ]; then how=--standalone; else how=--no-initial-controllers; fi
    tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$n.properties" $how >/dev/null || exit
done
for n in 0 1 2 3; do starts "$n"; done
compacted="cleanup.policy=compact,segment.ms=1000,delete.retention.ms=$kept_ms,min.cleanable.dirty.ratio=0.01"
for topic in t1 t2; do
    waits_for tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$all" --create --topic $topic --replica-assignment 1:2:3 >/dev/null
done
: >program.log
mkfifo asked
java -Xmx128m -XX:TieredStopAtLevel=1 -cp "$libs" "$program" "$all" <asked >>program.log 2>program.err &
pids[9]=$!
exec 3>asked
asks commit
for topic in t1 t2 __consumer_offsets; do
    tool kafka.admin.ConfigCommand --bootstrap-server "$all" --alter --topic "$topic" --add-config "$compacted" >/dev/null
done
away=$(leader __consumer_offsets)
waits_for all_in_sync
said "two transactions are committed: t1 has $(reads t1 --from-beginning)and g1 the offset $(offset_of g1 t1); t2 has $(reads t2 --from-beginning)and g2 $(offset_of g2 t2)"
asks open
stops "$away"
said "two more are open, and broker $away, which was the leader of __consumer_offsets, is shut down cleanly"
asks abort
for i in $(seq 12); do # what is cleaned has to be behind something
    echo "other=$i" | writes t1
    echo "other=$i" | writes t2
    commits h t1 "$((i % 2))" >/dev/null
    [ "$i" = 2 ] && asks "go on"
done
echo "last=1" | writes t2
said "both were aborted, and one producer has gone on: t1 has $(reads t1 --from-beginning)and g1 $(offset_of g1 t1); t2 has $(reads t2 --from-beginning)and g2 $(offset_of g2 t2)"
starts "$away"
waits_for all_in_sync
for topic in t1 t2 __consumer_offsets; do
    echo "{\"partitions\":[{\"topic\":\"$topic\",\"partition\":0,\"replicas\":[$away,$((away % 3 + 1)),$(((away + 1) % 3 + 1))]}]}" >order.json
    tool org.apache.kafka.tools.reassign.ReassignPartitionsCommand --bootstrap-server "$all" --execute --reassignment-json-file order.json >/dev/null
done
sleep 2
tool org.apache.kafka.tools.LeaderElectionCommand --bootstrap-server "$all" --election-type preferred --all-topic-partitions >/dev/null
sleep 5
said "broker $away is back, in sync, and leads after an election of preferred leaders: t1 $(leader t1), t2 $(leader t2), __consumer_offsets $(leader __consumer_offsets)"
t1="$(reads t1 --from-beginning)" t2="$(reads t2 --from-beginning)" g1="$(offset_of g1 t1)"
said "t1 has $t1; g1 ${g1:-no offset}; t2 has $t2"
echo "goes-on=1" | writes t2
t2="$(reads t2 --from-beginning)"
for i in $(seq 3); do commits h t1 "$((i % 2))" >/dev/null; done
within=30000 level=read_uncommitted
taken="$(reads t2 --group g2)"
said "after one more record t2 has $t2; a consumer of g2 that reads what is not committed, too, is given: ${taken:-nothing}"
[[ "$t1" != *ABORTED* ]] || echo "WHAT WAS ABORTED IS READ AS COMMITTED"
[ "$g1" != 1000 ] || echo "AN OFFSET WHOSE TRANSACTION WAS ABORTED IS COMMITTED"
[[ "$t2" == *goes-on* ]] || echo "WHAT IS COMMITTED IS NOT READ: THE LAST STABLE OFFSET STANDS STILL"
[ -n "$taken" ] || echo "THE GROUP IS GIVEN NOTHING"
