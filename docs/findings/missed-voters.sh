#!/usr/bin/env bash
# A deposed controller misses a change of the voters, and metadata that was acknowledged is lost (docs/findings/missed-voters.md).
# An unpacked release of Kafka, and Java: three controllers on 127.0.0.1, no broker. One to three minutes.
#
#   ./missed-voters.sh kafka_2.13-4.3.1
#   CLASSES=build/missed-voters ./missed-voters.sh kafka_2.13-4.3.1     with patched classes in front
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
[ -z "${CLASSES:-}" ] || libs="$(cd "$CLASSES" && pwd):$libs"
work="$(mktemp -d)"
cd "$work" || exit
dirs=(KdRhPcHnTW6Kl8sYtVZx0A KdRhPcHnTW6Kl8sYtVZx1A KdRhPcHnTW6Kl8sYtVZx2A)
at=(127.0.0.1:29100 127.0.0.1:29101 127.0.0.1:29102)
pids=()
clean_up() { kill -CONT "${pids[@]}"; kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
tool() { timeout 60 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$@" 2>/dev/null; }
starts() { # NODE : its controller, whose lines go into NODE.log
    java -Xmx200m -XX:TieredStopAtLevel=1 -cp "$libs" -Dorg.slf4j.simpleLogger.logFile=System.out \
        -Dlog4j2.configurationFile="file:$work/log4j2.properties" kafka.Kafka "$1.properties" >>"$1.log" 2>&1 &
    pids[$1]=$!
}
stops() { for n in "$@"; do kill -STOP "${pids[$n]}"; done; }
goes_on() { for n in "$@"; do kill -CONT "${pids[$n]}"; done; }
leader_but() { # NODE : the node that leads and is another one; waits for it
    for _ in $(seq 300); do
        for n in 0 1 2; do
            if [ "$n" != "$1" ] && grep -o 'Completed transition to [A-Za-z]*' "$n.log" | tail -n 1 | grep -q 'to Leader'; then
                echo "$n"
                return
            fi
        done
        sleep 0.1
    done
    echo nobody
}
voters_of() { grep 'Latest set of voters' "$1.log" | tail -n 1 | grep -o 'ReplicaKey(id=[0-9]' | grep -o '[0-9]$' | sort -u | tr '\n' ' '; }
shows() { for n in 0 1 2; do said "    the voters, says node $n: $(voters_of "$n")"; done; }
removes() { # NODE ASKED
    tool org.apache.kafka.tools.MetadataQuorumCommand --bootstrap-controller "${at[$2]}" \
        remove-controller --controller-id "$1" --controller-directory-id "${dirs[$1]}" >/dev/null
}
config() { tool kafka.admin.ConfigCommand --bootstrap-controller "${at[$1]}" --entity-type brokers --entity-default "${@:2}"; }
threads() { config "$1" --describe | grep -o 'log.cleaner.threads=[0-9]*' | head -n 1; }

cat >log4j2.properties <<END
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n%throwable
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
END
for n in 0 1 2; do
    cat >"$n.properties" <<END
process.roles=controller
node.id=$n
controller.quorum.bootstrap.servers=$(IFS=,; echo "${at[*]}")
listeners=CONTROLLER://${at[$n]}
advertised.listeners=CONTROLLER://${at[$n]}
controller.listener.names=CONTROLLER
log.dirs=$work/$n
metadata.max.idle.interval.ms=$([ "$n" = 0 ] && echo 10 || echo 500)
END
    tool kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$n.properties" \
        --initial-controllers "0@${at[0]}:${dirs[0]},1@${at[1]}:${dirs[1]},2@${at[2]}:${dirs[2]}" >/dev/null || exit
done
for n in 0 1 2; do starts "$n"; done
sleep 10
now="$(leader_but -)"
for _ in $(seq 12); do # another one leads, until it is 0
    [ "$now" = 0 ] && break
    stops "$now"
    next="$(leader_but "$now")"
    goes_on "$now"
    sleep 3
    now="$next"
done
[ "$now" = 0 ] || { said "node 0 did not come to lead: again"; exit 2; }

said "node 0 leads, 1 and 2 are cut off: 0 writes what nobody takes"
stops 1 2
sleep 2.5
stops 0
goes_on 1 2
m="$(leader_but 0)"
[ "$m" != nobody ] || { said "nobody leads in its place: again"; exit 2; }
f=$((3 - m))
goes_on 0
sleep 2
said "$m leads, and 0 has cut its log: $(grep -o 'Truncated to offset [0-9]*' 0.log | tail -n 1)"
removes "$f" "$m"
said "$f is removed, says $m"
shows
[ "$(voters_of 0)" = "$(voters_of "$m")" ] || echo "NODE 0 HAS MISSED THE CHANGE"
kill -9 "${pids[$f]}"
wait "${pids[$f]}" 2>/dev/null
stops 0
removes 0 "$m"
config "$m" --alter --add-config log.cleaner.threads=3 | grep -o Completed
said "$f is killed, 0 is cut off and is removed, says $m, the only voter now; a setting of brokers: $(threads "$m")"
stops "$m"
goes_on 0
starts "$f"
said "$m is cut off, 0 and $f go on"
sleep 5
x="$(leader_but "$m")"
if [ "$x" = nobody ]; then
    said "nobody leads: 0 and $f are no majority of anything"
    goes_on "$m"
    sleep 10
else
    shows
    config "$x" --alter --add-config log.cleaner.threads=5 | grep -o Completed
    said "$x leads, with a vote of one that is no voter; the setting: $(threads "$x")"
    goes_on "$m"
    sleep 10
    grep -o 'The leader requested truncation to offset [0-9]*, which is below the current high watermark' "$m.log" | tail -n 1
fi
if kill -0 "${pids[$m]}" 2>/dev/null; then said "$m is up; the setting: $(threads "$m")"; else echo "LOST: $m HAS ENDED, AND WITH IT WHAT IT HAD ACKNOWLEDGED"; fi
