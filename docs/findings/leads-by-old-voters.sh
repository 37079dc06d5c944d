#!/usr/bin/env bash
# A controller that missed a record of voters leads, and does not heed those that it writes: a voter that was removed is back
# (docs/findings/missed-voters.md#a-leader-that-does-not-heed-its-own). An unpacked release of Kafka, and a JDK: three controllers on
# 127.0.0.1, no broker, with Kafka's default settings. LeadsByOldVoters.java lies beside it. About a minute.
#
#   ./leads-by-old-voters.sh kafka_2.13-4.3.1
#   ./leads-by-old-voters.sh kafka_2.13-4.3.1 control                                    the leader is cut off, and has written nothing
#   CLASSES=build/missed-voters ./leads-by-old-voters.sh kafka_2.13-4.3.1               with patched classes in front
set -u
libs="$(cd "${1:?the folder of an unpacked release of Kafka}/libs" && pwd)/*"
[ -z "${CLASSES:-}" ] || libs="$(cd "$CLASSES" && pwd):$libs"
program="$(cd "$(dirname "$0")" && pwd)/LeadsByOldVoters.java"
work="$(mktemp -d)"
cd "$work" || exit
dirs=(KdRhPcHnTW6Kl8sYtVZx0A KdRhPcHnTW6Kl8sYtVZx1A KdRhPcHnTW6Kl8sYtVZx2A)
at=(127.0.0.1:29110 127.0.0.1:29111 127.0.0.1:29112)
pids=()
clean_up() { kill -CONT "${pids[@]}"; kill -9 "${pids[@]}"; rm -rf "$work"; } 2>/dev/null
trap clean_up EXIT

for n in 0 1 2; do
    cat >"$n.properties" <<END
process.roles=controller
node.id=$n
controller.quorum.bootstrap.servers=$(IFS=,; echo "${at[*]}")
listeners=CONTROLLER://${at[$n]}
advertised.listeners=CONTROLLER://${at[$n]}
controller.listener.names=CONTROLLER
log.dirs=$work/$n
END
    java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" kafka.tools.StorageTool format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config "$n.properties" \
        --initial-controllers "0@${at[0]}:${dirs[0]},1@${at[1]}:${dirs[1]},2@${at[2]}:${dirs[2]}" >/dev/null 2>&1 || exit
    java -Xmx200m -XX:TieredStopAtLevel=1 -cp "$libs" kafka.Kafka "$n.properties" >"$n.log" 2>&1 &
    pids[n]=$!
done
sleep 10
java -Xmx96m -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$libs" "$program" "${at[0]}" "${dirs[0]}" "${pids[0]}" "${at[1]}" "${dirs[1]}" "${pids[1]}" \
    "${at[2]}" "${dirs[2]}" "${pids[2]}" ${2:+control} 2>err || { tail -n 3 err; exit 2; }
sleep 3
echo "records of voters in the log of node 0:"
before=
for segment in "$work"/0/__cluster_metadata-0/*.log; do
    java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$libs" org.apache.kafka.tools.DumpLogSegments --cluster-metadata-decoder --files "$segment" 2>/dev/null
done | grep KRaftVoters | while read -r line; do
    now="$(grep -o '"voterId":[0-9]' <<<"$line" | grep -o '[0-9]$' | sort | tr '\n' ' ')"
    echo "    $(grep -o 'offset: [0-9]*' <<<"$line" | head -n 1): $now"
    for n in $now; do
        [ -z "$before" ] || grep -q "$n" <<<"$before" || echo "A VOTER THAT WAS REMOVED IS BACK: $n"
    done
    before="$now"
done
