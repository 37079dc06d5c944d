#!/usr/bin/env bash
# Two messages that end a process of Kafka's quorum of controllers (docs/findings/ended-by-a-message.md). An unpacked release of Kafka, and
# a JDK: three controllers on 127.0.0.1 whose voters can change, and a broker in the second case. Less than a minute.
#
#   ./ended-by-a-message.sh kafka_2.13-4.3.1 removed       a voter that hangs is removed, and goes on: the active controller ends
#   ./ended-by-a-message.sh kafka_2.13-4.3.1 beginner      a broker whose first start was cut short ends whenever it is started
#   ./ended-by-a-message.sh kafka_2.13-4.3.1 CASE control  the voter goes on before it is removed; the first start is not cut short
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
[ -z "${CLASSES:-}" ] || libs="$(cd "$CLASSES" && pwd):$libs"
case="${2:?removed, or beginner}" control="${3:-}"
program="$(cd "$(dirname "$0")" && pwd)/RemovesVoter.java"
work="$(mktemp -d)"
cd "$work" || exit
dirs=(KdRhPcHnTW6Kl8sYtVZx0A KdRhPcHnTW6Kl8sYtVZx1A KdRhPcHnTW6Kl8sYtVZx2A)
at=(127.0.0.1:29300 127.0.0.1:29301 127.0.0.1:29302 127.0.0.1:29303)
controllers="${at[0]},${at[1]},${at[2]}"
pids=()
clean_up() { kill -CONT "${pids[@]}"; kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

said() { echo "$(date +%T) $*"; }
starts() { # NODE : its process, whose lines go into NODE.log
    java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$libs" -Dorg.slf4j.simpleLogger.logFile=System.out \
        -Dlog4j2.configurationFile="file:$work/log4j2.properties" kafka.Kafka "$1.properties" >>"$1.log" 2>&1 &
    pids[$1]=$!
}
waits() { # SECONDS COMMAND… : until it is true
    for _ in $(seq $(($1 * 20))); do "${@:2}" && return; sleep 0.05; done
    return 1
}
leads() { for n in 0 1 2; do grep -o 'Completed transition to [A-Za-z]*' "$n.log" | tail -n 1 | grep -q 'to Leader' && echo "$n" && return; done; return 1; }
ended() { ! kill -0 "${pids[$1]}" 2>/dev/null; }
why() { grep -o 'java.lang.Illegal[A-Za-z]*Exception: .*' "$1.log" | tail -n 1 | cut -c1-150; }
follows() { grep -q "Completed transition to FollowerState.* leader=$1," 3.log; }
serves() { [ "$(grep -c 'Kafka Server started' 3.log)" -gt "$1" ]; }

cat >log4j2.properties <<END
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n%throwable
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
END
for n in 0 1 2 3; do
    if [ "$n" = 3 ]; then name=BROKER role=broker how=--no-initial-controllers; else
        name=CONTROLLER role=controller
        how="--initial-controllers 0@${at[0]}:${dirs[0]},1@${at[1]}:${dirs[1]},2@${at[2]}:${dirs[2]}"
    fi
    cat >"$n.properties" <<END
process.roles=$role
node.id=$n
controller.quorum.bootstrap.servers=$controllers
listeners=$name://${at[$n]}
advertised.listeners=$name://${at[$n]}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT
inter.broker.listener.name=BROKER
log.dirs=$work/$n
END
    [ "$n" = 3 ] || sed -i /inter.broker/d "$n.properties"
    [ "$case" = removed ] || echo controller.quorum.fetch.timeout.ms=30000 >>"$n.properties"
    # shellcheck disable=SC2086
    java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ \
        --config "$n.properties" $how >/dev/null 2>&1 || { said "node $n could not be formatted"; exit 2; }
done
for n in 0 1 2; do starts "$n"; done
waits 60 leads >/dev/null || { said "nobody leads: again"; exit 2; }
sleep 4
leader="$(leads)" other=$((($(leads) + 1) % 3))

if [ "$case" = removed ]; then
    said "controller $leader is the active one; controller $other hangs${control:+, goes on}, and is removed from the voters"
    timeout 60 java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" "$program" "$controllers" "$other" "${dirs[$other]}" "${pids[$other]}" $control 2>err
    if waits 10 ended "$leader"; then
        said "controller $leader has ended: $(why "$leader")"
        echo "THE ACTIVE CONTROLLER HAS ENDED"
        for n in 0 1 2; do : >"$n.log"; done
        starts "$leader"
        waits 60 leads >/dev/null && said "it is started again, and controller $(leads) is the active one"
    else
        said "controller $(leads) is the active one"
    fi
else
    said "controller $leader is the active one, and hangs${control:+ not}; a broker is started for the first time"
    [ -n "$control" ] || kill -STOP "${pids[$leader]}"
    starts 3
    waits 25 follows "$leader" || { said "the broker does not hear of controller $leader: again"; exit 2; }
    [ -z "$control" ] || waits 30 serves 0
    kill -9 "${pids[3]}"
    wait "${pids[3]}" 2>/dev/null
    kill -CONT "${pids[$leader]}"
    said "the broker is killed, and controller $leader goes on, and is the only one that the broker is told of"
    sed -i "s/^\(controller.quorum.bootstrap.servers=\).*/\1${at[$leader]}/" 3.properties
    for try in 1 2 3; do
        sleep 1
        starts 3
        if waits 20 ended 3; then
            said "start $try: it has ended: $(why 3)"
        else
            said "start $try: it runs"
            exit
        fi
    done
    echo "THE BROKER ENDS WHENEVER IT IS STARTED"
    sed -i "s/^\(controller.quorum.bootstrap.servers=\).*/\1${at[$other]}/" 3.properties
    starts 3
    waits 20 ended 3 || said "it is told of another controller: it runs"
fi
