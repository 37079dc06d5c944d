#!/usr/bin/env bash
# A log directory fails and is taken off log.dirs: its broker stays eligible, with an empty log (docs/findings/directory-taken-off.md).
# An unpacked release of Kafka, and Java: a controller and three brokers on 127.0.0.1. About two minutes.
#
#   ./directory-taken-off.sh kafka_2.13-4.3.1                the directory is taken off log.dirs
#   ./directory-taken-off.sh kafka_2.13-4.3.1 replaced       the control: an empty directory takes its place
#   ./directory-taken-off.sh kafka_2.13-4.3.1 without-elr    as the first, in a cluster without eligible leader replicas
#   CLASSES=build/one-failed-directory ./directory-taken-off.sh kafka_2.13-4.3.1     with patched classes in front
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
[ -z "${CLASSES:-}" ] || libs="$(cd "$CLASSES" && pwd):$libs"
work="$(mktemp -d)"
cd "$work" || exit
pids=()
clean_up() { kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
port() { echo "127.0.0.1:$((29500 + $1))"; }
tool() { timeout 60 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$@" 2>/dev/null; }
starts() { # NODE : its log lines go into NODE.log, those of its start before into NODE.log.before
    [ ! -f "$1.log" ] || mv "$1.log" "$1.log.before"
    java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$libs" -Dorg.slf4j.simpleLogger.logFile=System.out \
        -Dlog4j2.configurationFile="file:$work/log4j2.properties" kafka.Kafka "$1.properties" >"$1.log" 2>&1 &
    pids[$1]=$!
}
stops() { kill "${pids[$1]}"; wait "${pids[$1]}" 2>/dev/null; }
formats() { tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$1.properties" "${@:2}" >/dev/null; }
topics() { tool org.apache.kafka.tools.TopicCommand --bootstrap-server "$(port "$1")" "${@:2}"; }
partition() { topics "$1" --describe --topic t | grep 'Partition: 0' | tr -s '\t' ' '; }
writes() { printf '%s\n' "${@:2}" | tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$(port "$1")" --topic t --request-required-acks all; }
reads() {
    tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$(port "$1")" --topic t --from-beginning --timeout-ms 8000 |
        tr '\n' ' '
}
waits() { # SECONDS COMMAND... : until it succeeds
    for _ in $(seq "$1"); do "${@:2}" && return; sleep 1; done
    said "in vain: ${*:2}"
    exit 2
}
shows() { partition "$1" | grep -q "$2"; }
has_said() { grep -q "$2" "$1.log"; }

cat >log4j2.properties <<END
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n%throwable
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
END
for n in 0 1 2 3; do
    cat >"$n.properties" <<END
process.roles=$([ "$n" = 0 ] && echo controller || echo broker)
node.id=$n
controller.quorum.voters=0@$(port 0)
listeners=$([ "$n" = 0 ] && echo CONTROLLER || echo PLAINTEXT)://$(port "$n")
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs=$work/$n/first,$work/$n/second
metadata.log.dir=$work/$n/metadata
offsets.topic.num.partitions=1
END
    mkdir -p "$n/first" "$n/second" "$n/metadata"
    if [ "${2:-}" = without-elr ]; then formats "$n" --feature eligible.leader.replicas.version=0; else formats "$n"; fi
done
for n in 0 1 2 3; do starts "$n"; done
for n in 1 2 3; do waits 60 has_said "$n" 'Kafka Server started'; done
topics 1 --create --topic t --replica-assignment 1:2:3 --config min.insync.replicas=2 >/dev/null || exit
stops 3
said "3 is stopped: $(partition 1)"
writes 1 m1 m2 m3 m4 m5
said "acknowledged by 1 and 2: m1 to m5"

dir="$(dirname "$(ls -d 2/*/t-0)")"
mv "$dir" "$dir.failed"
touch "$dir"
waits 30 has_said 2 'Stopping serving logs in dir\|is offline\|offline log'
waits 30 shows 1 'Isr: 1[^,]'
said "the directory of 2's log has failed: $(partition 1)"
stops 2
rm "$dir"
if [ "${2:-}" = replaced ]; then
    mkdir "$dir"
    formats 2 --ignore-formatted
else
    other=second
    [ "$dir" = 2/first ] || other=first
    sed -i "s|^log.dirs=.*|log.dirs=$work/2/$other|" 2.properties
fi
said "2 is stopped, and the directory is $([ "${2:-}" = replaced ] && echo replaced || echo taken off): $(partition 1)"
stops 1
said "1 is stopped, with all records"
starts 2
waits 60 has_said 2 'Kafka Server started'
for _ in $(seq 15); do shows 2 'Leader: 2' && break; sleep 1; done
said "2 is started: $(partition 2)"
starts 1
waits 60 has_said 1 'Kafka Server started'
starts 3
waits 60 has_said 3 'Kafka Server started'
sleep 10
said "1 and 3 are started: $(partition 1)"
there="$(reads 1)"
said "what is read: $there"
if [ "$there" = "m1 m2 m3 m4 m5 " ]; then echo "all that was acknowledged is there"; else echo "LOST: WHAT 1 AND 2 HAD ACKNOWLEDGED"; fi
[ -z "${KEEP:-}" ] || cp ./*.log* "$KEEP"
