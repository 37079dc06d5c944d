#!/usr/bin/env bash
# A coordinator that was deposed acknowledges a commit that is cut from its log: KAFKA-20634 (docs/kafka-coordinators.md). An unpacked
# release of Kafka, and a JDK: a controller and three brokers on 127.0.0.1. Half a minute. AcknowledgedAndCut.java and SlowAssignor.java
# lie beside it.
#
#   ./acknowledged-and-cut.sh kafka_2.13-4.2.1
#   ./acknowledged-and-cut.sh kafka_2.13-4.2.1 group.coordinator.append.linger.ms=0     more settings of the brokers
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
cd "$work" || exit
controller=127.0.0.1:29220
pids=()
clean_up() { kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

mkdir classes && javac -nowarn -cp "$libs" -d classes "$here/AcknowledgedAndCut.java" "$here/SlowAssignor.java" || exit
for n in 0 1 2 3; do
    if [ "$n" = 0 ]; then at="CONTROLLER://$controller"; else at="CLIENTS://127.0.0.1:2922$n,BROKERS://127.0.0.1:2923$n"; fi
    cat >"$n.properties" <<END
process.roles=$([ "$n" = 0 ] && echo controller || echo broker)
node.id=$n
controller.quorum.bootstrap.servers=$controller
listeners=$at
advertised.listeners=${at/29231/29241}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT
log.dirs=$work/$n
min.insync.replicas=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=3
auto.leader.rebalance.enable=false
END
    if [ "$n" = 0 ]; then how=--standalone; else
        how=--no-initial-controllers
        echo "inter.broker.listener.name=BROKERS" >>"$n.properties"
        echo "group.consumer.assignors=SlowAssignor" >>"$n.properties"
        printf '%s\n' "${@:2}" >>"$n.properties"
    fi
    java -Xmx96m -XX:TieredStopAtLevel=1 -cp "classes:$libs" kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ \
        --config "$n.properties" $how >/dev/null 2>&1 || exit
done
for n in 0 1 2 3; do
    java -Xmx256m -XX:TieredStopAtLevel=1 -Dassignor.begun="$work/busy" -Dassignor.ms=4000 -cp "classes:$libs" \
        kafka.Kafka "$n.properties" >"$n.log" 2>&1 &
    pids+=($!)
done
timeout 120 java -Xmx128m -XX:TieredStopAtLevel=1 -cp "classes:$libs" AcknowledgedAndCut \
    127.0.0.1:29221 127.0.0.1:29222 29241 29231 "$work/busy" 2>program.err || echo "it came to no end: again"
