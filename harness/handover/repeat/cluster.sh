# ---------------------------------------------------------------- a cluster of containers, and Kafka's own tools

P="${P:-kafka-repeat-$$}" # what containers and network are called
SUBNET="${SUBNET:-10.213.57}"
PATIENCE="${PATIENCE:-300}"
WORK="$(mktemp -d)"
BIN=/opt/kafka/bin
DATA=/tmp/kafka-data # a log directory
[ -z "$TWO_LOG_DIRECTORIES" ] && SECOND="" || SECOND=$DATA-2
BEGAN=$(date +%s)
ASSIGNED=$(echo "$REPLICAS" | tr : ,) # by the script; an election may want another order for a while
ORDERED=$ASSIGNED
mkdir "$WORK/sent"
touch "$WORK/cuts" "$WORK/paused" "$WORK/down" "$WORK/upgraded" "$WORK/missing"

say() { printf '%5d s  %s\n' "$(($(date +%s) - BEGAN))" "$*"; }
give_up() {
    say "GIVEN UP: $*"
    exit 2
}
# cannot WORDS : a step that Kafka's tools cannot do.
cannot() { give_up "a step cannot be done with Kafka's tools: $*"; }

clean_up() {
    [ -z "${KEEP:-}" ] || { say "kept: docker ps --filter name=$P-"; return; }
    docker ps -aq --filter "name=^$P-" | xargs docker rm -fv >/dev/null 2>&1
    docker network rm "$P" >/dev/null 2>&1
    rm -rf "$WORK"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

name_of() { eval "echo \$NAME_$1"; }
ip_of() { echo "$SUBNET.$((10 + $1))"; }
at() { echo "$(ip_of "$1"):9092"; }
listed() { grep -qx "$2" "$WORK/$1"; } # listed paused 2
lists() { echo "$2" >>"$WORK/$1"; }
unlists() {
    grep -vx "$2" "$WORK/$1" >"$WORK/rest"
    mv "$WORK/rest" "$WORK/$1"
}
# cut_off NODE : the nodes that it is cut off from.
cut_off() { sed -n "s/^$1 \([0-9]*\) .*/\1/p; s/^\([0-9]*\) $1 .*/\1/p" "$WORK/cuts" | sort -un; }

# in_node NODE COMMAND... ; in_tools COMMAND...
in_node() {
    local node=$1
    shift
    docker exec -i "$P-$node" "$@"
}
in_tools() { docker exec -i -e KAFKA_HEAP_OPTS=-Xmx128m "$P-tools" "$@"; }

# properties NODE : its server.properties.
properties() {
    echo "$SETTINGS"
    echo "node.id=$1"
    echo "controller.quorum.voters=0@$(ip_of 0):9093"
    echo "controller.listener.names=CONTROLLER"
    echo "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
    echo "broker.session.timeout.ms=$SESSION_MS"
    # A broker that is started again is refused until its last session has ended.
    echo "initial.broker.registration.timeout.ms=$((SESSION_MS + 120000))"
    echo "replica.lag.time.max.ms=$LAG_MS"
    # A log that is copied under a throttle rests for a minute after a batch, and not for eleven seconds.
    [ -z "$SECOND" ] || echo "alter.log.dirs.replication.quota.window.num=61"
    # Once it has asked for the controller's log without an answer, it does not ask again (deafens).
    echo " $DEAF " | grep -q " $1 " && printf '%s\n' controller.quorum.retry.backoff.ms=3600000 controller.quorum.request.timeout.ms=5000
    if [ "$1" -eq 0 ]; then
        echo "process.roles=controller"
        echo "log.dirs=$DATA"
        echo "listeners=CONTROLLER://$(ip_of 0):9093"
    else
        echo "process.roles=broker"
        echo "log.dirs=$DATA${SECOND:+,$SECOND}"
        echo "listeners=PLAINTEXT://$(ip_of "$1"):9092"
        echo "inter.broker.listener.name=PLAINTEXT"
    fi
}

# What a container does when it starts, the first time and after a crash.
start_script() {
    cat <<'END'
while read -r other; do ip route add unreachable "$other"; done </tmp/node/cut
if [ -f /tmp/node/wipe ]; then rm -rf "$DATA" "$DATA-2"; rm /tmp/node/wipe; fi
if [ ! -f "$DATA/meta.properties" ]; then
    "$BIN/kafka-storage.sh" format --cluster-id dGlkZW1hcmsta2Fma2EtMQ --config /tmp/node/server.properties || exit
fi
exec "$BIN/kafka-server-start.sh" /tmp/node/server.properties
END
}

# make NODE : its container, not yet started.
make() {
    docker create --name "$P-$1" --network "$P" --ip "$(ip_of "$1")" --cap-add NET_ADMIN --user 0 -e BIN="$BIN" -e DATA="$DATA" \
        -e KAFKA_HEAP_OPTS=-Xmx384m --entrypoint sh "$IMAGE" /tmp/node/start >/dev/null || give_up "no container of $IMAGE"
    mkdir -p "$WORK/node"
    properties "$1" >"$WORK/node/server.properties"
    start_script >"$WORK/node/start"
    : >"$WORK/node/cut"
    docker cp "$WORK/node" "$P-$1:/tmp/" >/dev/null 2>&1 || give_up "nothing can be copied into a container"
}

bring_up() {
    say "bringing up a controller and $BROKERS brokers of $IMAGE; a session lasts $SESSION_MS ms"
    docker network create --subnet "$SUBNET.0/24" "$P" >/dev/null || give_up "no network $SUBNET.0/24; choose another with SUBNET=10.1.2"
    docker run -d --name "$P-tools" --network "$P" --ip "$SUBNET.9" --cap-add NET_ADMIN --user 0 --entrypoint sleep "$IMAGE" \
        infinity >/dev/null || give_up "no container of $IMAGE"
    in_tools which ip >/dev/null || give_up "$IMAGE has no ip command, by which nodes are cut off from each other"
    PROPERTY=--producer-property
    in_tools "$BIN/kafka-console-producer.sh" --help 2>&1 | grep -q -- --command-property && PROPERTY=--command-property
    for node in $(seq 0 "$BROKERS"); do make "$node"; done
    docker start "$P-0" >/dev/null
    [ -z "$DEAF" ] || waits "the controller listens" in_tools bash -c "exec 3<>/dev/tcp/$(ip_of 0)/9093" 2>/dev/null
    for node in $(seq 1 "$BROKERS"); do docker start "$P-$node" >/dev/null; done
    STARTED=$(date +%s)
    waits "all brokers have come" all_came
    in_tools "$BIN/kafka-topics.sh" --bootstrap-server "$(at 1)" --create --topic t --replica-assignment "$REPLICAS" \
        $TOPIC_SETTINGS || give_up "the topic cannot be made"
    for node in $(echo "$REPLICAS" | tr : ' '); do waits "broker $(name_of "$node") knows its leader" has_role "$node"; done
}
all_came() {
    metadata | sed -n 's/.*"type":"REGISTER_BROKER_RECORD".*"brokerId":\([0-9]*\).*/\1/p' | sort -u >"$WORK/came"
    for n in $DEAF; do
        listed came "$n" || [ $(($(date +%s) - STARTED)) -lt 60 ] || { docker restart -t 0 "$P-$n" >/dev/null && STARTED=$(date +%s); }
    done
    in_tools "$BIN/kafka-topics.sh" --bootstrap-server "$(at 1)" --list >/dev/null 2>&1 && [ "$(grep -c . "$WORK/came")" = "$BROKERS" ]
}
has_role() { [ -n "$(role "$1")" ]; }

# waits WORDS COMMAND... : until it is true.
waits() {
    local words=$1 give_up_at
    shift
    give_up_at=$(($(date +%s) + PATIENCE))
    until "$@"; do
        [ "$(date +%s)" -lt "$give_up_at" ] || { standing; give_up "waited $PATIENCE s until $words"; }
        sleep 0.3
    done
    say "seen: $words"
}

# ---------------------------------------------------------------- what can be seen

# home NODE : the log directory that its log lies in.
home() {
    [ -n "$SECOND" ] && docker cp "$P-$1:$SECOND/t-0" - >/dev/null 2>&1 && echo "$SECOND" || echo "$DATA"
}
# files NODE DIRECTORY : copies a directory of a node's disk, whether or not it runs, to the tools, where it is called NODE-DIRECTORY.
files() {
    in_tools sh -c "rm -rf /tmp/$1-$2 && mkdir /tmp/$1-$2"
    docker cp "$P-$1:$(home "$1")/$2" - 2>/dev/null | in_tools tar xf - --strip-components=1 -C "/tmp/$1-$2" 2>/dev/null
}
file() { docker cp "$P-$1:$(home "$1")/$2" - 2>/dev/null | tar xOf - 2>/dev/null; }
# dumped NODE : the batches and records of its log, by kafka-dump-log.
dumped() {
    files "$1" t-0
    in_tools sh -c "cd /tmp/$1-t-0 2>/dev/null && set -- *.log && [ -f \"\$1\" ] && $BIN/kafka-dump-log.sh --print-data-log --files \"\$(echo \$* | tr ' ' ,)\" 2>/dev/null"
}
metadata() {
    files 0 __cluster_metadata-0
    in_tools sh -c "cd /tmp/0-__cluster_metadata-0 && set -- *.log && $BIN/kafka-dump-log.sh --cluster-metadata-decoder --files \"\$(echo \$* | tr ' ' ,)\" 2>/dev/null"
}
# partition FIELD : of t-0, as the controller has written it last: leader, isr, replicas.
partition() {
    metadata >"$WORK/metadata"
    id=$(sed -n 's/.*"type":"TOPIC_RECORD".*"name":"t","topicId":"\([^"]*\)".*/\1/p' "$WORK/metadata" | tail -n 1)
    grep -F "\"$id\"" "$WORK/metadata" | grep -E '"type":"PARTITION(_CHANGE)?_RECORD"' | sed -n "s/.*\"$1\":\[\{0,1\}\([-0-9,]*\).*/\1/p" | sed 's/,$//' | tail -n 1
}
in_order() { echo "$1" | tr , '\n' | sort -n | tr '\n' ',' | sed 's/,$//'; }
isr_is() { [ "$(in_order "$(partition isr)")" = "$1" ]; }
replicas_are() { [ "$(in_order "$(partition replicas)")" = "$1" ]; }
leader_is() { [ "$(partition leader)" = "$1" ]; }
# leo NODE : of its log on the disk. hw NODE : as its checkpoint has it.
leo() { dumped "$1" | sed -n 's/^baseOffset:.* lastOffset: \([0-9]*\) .*/\1/p' | awk 'END { print NR ? $1 + 1 : 0 }'; }
hw() { file "$1" replication-offset-checkpoint | sed -n 's/^t 0 //p'; }
# have leo|hw|log_start|log_start_on_disk NUMBER NODE...
have() {
    local what=$1 number=$2 n
    shift 2
    for n in "$@"; do [ "$("$what" "$n")" = "$number" ] || return 1; done
}
said() { in_node "$1" sh -c 'cat /opt/kafka/logs/state-change.log.* /opt/kafka/logs/state-change.log 2>/dev/null'; docker logs "$P-$1" 2>&1; }
# role NODE : "Leader EPOCH" or "Follower EPOCH LEADER", as it has said last.
role() { said "$1" | sed -n 's/.* \(Leader\) t-0 .*starts at leader epoch \([0-9]*\).*/\1 \2/p; s/.* \(Follower\) t-0 .*starts at leader epoch \([0-9]*\) .*Current leader is \([0-9]*\).*/\1 \2 \3/p' | sort -s -k2,2n | tail -n 1; }
# leads NODE EPOCH ; follows LEADER EPOCH NODE... : in that epoch or a later one.
leads() {
    set -- "$2" $(role "$1")
    [ "${2:-}" = Leader ] && [ "$3" -ge "$1" ]
}
follows() {
    local of=$1 epoch=$2 n
    shift 2
    for n in "$@"; do
        set -- $(role "$n")
        [ "${1:-}" = Follower ] && [ "$2" -ge "$epoch" ] && [ "$3" = "$of" ] || return 1
    done
}
log_start() { docker logs "$P-$1" 2>&1 | sed -n 's/.*partition=t-0,.*Incremented log start offset to \([0-9]*\).*/\1/p' | tail -n 1; }
log_start_on_disk() { file "$1" log-start-offset-checkpoint | sed -n 's/^t 0 //p'; }
is_fenced() { metadata | grep -E '"type":"(BROKER_REGISTRATION_CHANGE|FENCE_BROKER|REGISTER_BROKER|UNFENCE_BROKER)_RECORD"' | grep -E "\"(brokerId|id)\":$1[,}]" | tail -n 1 | grep -Eq '"fenced":(1|true)|FENCE_BROKER'; }
standing() {
    say "the controller: leader $(partition leader), ISR $(partition isr), replicas $(partition replicas)"
    local n
    for n in $(seq 1 "$BROKERS"); do
        say "broker $(name_of "$n") ($n): $(role "$n" | sed 's/^$/no role/'), checkpointed high watermark $(hw "$n"), log:$(log_of "$n")"
    done
}
# log_of NODE : OFFSET:RECORD(EPOCH), a word each.
log_of() { dumped "$1" | awk '/^baseOffset/ { for (i = 1; i < NF; i++) if ($i == "partitionLeaderEpoch:") epoch = $(i + 1) } / payload: / { printf " %s:%s(epoch %s)", $3, $NF, epoch }'; }

# ---------------------------------------------------------------- what can be done

# sends NODE ACKS RECORD... : one batch, and nobody waits. Its producer never tries again, and is patient.
sends() {
    local node=$1 acks=$2 record first
    shift 2
    say "producer: $* to broker $(name_of "$node"), acks=$acks"
    for record in "$@"; do echo "$*" >"$WORK/sent/$record"; done
    first=$1
    (
        printf '%s\n' "$@" | in_tools "$BIN/kafka-console-producer.sh" --bootstrap-server "$(at "$node")" --topic t \
            --request-required-acks "$acks" --message-send-max-retries 0 --request-timeout-ms 600000 --max-block-ms 60000 \
            $PROPERTY enable.idempotence=false $PROPERTY delivery.timeout.ms=700000 >"$WORK/sent/$first.said" 2>&1
        if [ $? -eq 0 ] && ! grep -qE 'ERROR|Error when sending' "$WORK/sent/$first.said"; then
            say "producer: $* acknowledged"
            for record in "$@"; do touch "$WORK/sent/$record.acked"; done
        else
            say "producer: $* NOT acknowledged: $(grep -oE '[A-Za-z.]+Exception.*' "$WORK/sent/$first.said" | head -n 1)"
            for record in "$@"; do touch "$WORK/sent/$record.failed"; done
        fi
    ) &
}
acked() {
    local record
    for record in "$@"; do [ -f "$WORK/sent/$record.acked" ] || return 1; done
}
answered() { [ -f "$WORK/sent/$1.acked" ] || [ -f "$WORK/sent/$1.failed" ]; }
# writes NODE ACKS RECORD... : the same, and waits.
writes() {
    sends "$@"
    waits "$3 has an answer" answered "$3"
    acked "$3" || give_up "$3 was not acknowledged"
}
# leader : whom the controller has made leader.
leader() { partition leader; }

reads() {
    say "a consumer reads from broker $(name_of "$1"): $(in_tools "$BIN/kafka-console-consumer.sh" --bootstrap-server "$(at "$1")" --topic t --partition 0 --offset earliest --timeout-ms 5000 2>/dev/null | tr '\n' ' ')"
}

# cuts TAG ONE OTHER ; joins TAG ONE OTHER : no packet passes, either way.
cuts() {
    [ "$1" = pause ] || say "cut: $(name_of "$2") from $(name_of "$3")"
    lists cuts "$2 $3 $1"
    local pair
    for pair in "$2 $3" "$3 $2"; do
        set -- $pair
        listed down "$1" || in_node "$1" ip route add unreachable "$(ip_of "$2")" 2>/dev/null
    done
}
joins() {
    [ "$1" = pause ] || say "joined: $(name_of "$2") and $(name_of "$3")"
    unlists cuts "$2 $3 $1"
    local pair
    for pair in "$2 $3" "$3 $2"; do
        set -- $pair
        cut_off "$1" | grep -qx "$2" || listed down "$1" || in_node "$1" ip route del unreachable "$(ip_of "$2")" 2>/dev/null
    done
}

others() { for n in $(seq 0 "$BROKERS"); do [ "$n" -eq "$1" ] || echo "$n"; done; }
# A broker that sleeps is cut off from all nodes as well: an operator's tool may have to wake it for a moment (orders).
pauses() {
    for other in $(others "$1"); do cuts pause "$1" "$other"; done
    say "SIGSTOP to broker $(name_of "$1")"
    docker kill -s STOP "$P-$1" >/dev/null
    lists paused "$1"
}
resumes() {
    for other in $(others "$1"); do joins pause "$1" "$other"; done
    say "SIGCONT to broker $(name_of "$1")"
    docker kill -s CONT "$P-$1" >/dev/null
    unlists paused "$1"
}
crashes() {
    say "SIGKILL to broker $(name_of "$1")"
    docker kill -s KILL "$P-$1" >/dev/null
    docker wait "$P-$1" >/dev/null
    lists down "$1"
    if listed paused "$1"; then
        unlists paused "$1"
        for other in $(others "$1"); do joins pause "$1" "$other"; done
    fi
}
stops() {
    say "SIGTERM to broker $(name_of "$1")"
    docker stop -t "$PATIENCE" "$P-$1" >/dev/null
    lists down "$1"
}
starts() {
    listed down "$1" || return 0
    [ -z "$LATER" ] || listed upgraded "$1" || upgrades "$1"
    say "starting broker $(name_of "$1")"
    for other in $(cut_off "$1"); do ip_of "$other"; done >"$WORK/node/cut"
    docker cp "$WORK/node/cut" "$P-$1:/tmp/node/cut" >/dev/null 2>&1
    DEAF="" properties "$1" >"$WORK/node/server.properties"
    docker cp "$WORK/node/server.properties" "$P-$1:/tmp/node/server.properties" >/dev/null 2>&1
    unlists down "$1"
    docker start "$P-$1" >/dev/null
}
# upgrades NODE : a container of the newer image takes the place of its own, with what is on its disk.
upgrades() {
    say "broker $(name_of "$1") runs $LATER from now on"
    docker rename "$P-$1" "$P-$1-before"
    IMAGE=$LATER make "$1"
    for path in /tmp/node "$DATA" $SECOND; do
        docker cp "$P-$1-before:$path" - | docker cp - "$P-$1:/tmp/" || give_up "the disk of broker $(name_of "$1") cannot be copied"
    done
    lists upgraded "$1"
}
# loses_power NODE KEPT : its process ends; so many batches of its log had reached the disk, and the rest is cut off.
loses_power() {
    crashes "$1"
    local end file
    end=$(dumped "$1" | sed -n 's/^baseOffset:.* position: \([0-9]*\) .*/\1/p' | sed -n "$(($2 + 1))p")
    say "the power of broker $(name_of "$1") is lost: $2 batches of its log were on its disk"
    [ -n "$end" ] || return 0
    file=$(in_tools sh -c "cd /tmp/$1-t-0 && ls *.log | head -n 1")
    in_tools sh -c "cd /tmp/$1-t-0 && head -c $end $file >cut && mv cut $file && tar cf - $file" | docker cp - "$P-$1:$(home "$1")/t-0" ||
        give_up "the log of broker $(name_of "$1") cannot be cut"
}
wipes() {
    crashes "$1"
    say "the disk of broker $(name_of "$1") is lost"
    touch "$WORK/wipe"
    docker cp "$WORK/wipe" "$P-$1:/tmp/node/wipe" >/dev/null 2>&1
}

# deafens NODE : it hears nothing of the controller's log until it is started again, and all else passes between the two. It is cut off
# until it has given up asking for that log; there is a setting by which it waits an hour before it asks again (properties).
deafens() {
    local heard
    cuts deaf "$1" 0
    sleep 15
    joins deaf "$1" 0
    heard=$(heard "$1")
    sleep 3
    [ "$(heard "$1")" = "$heard" ] || give_up "broker $(name_of "$1") still hears of the controller's log"
    say "broker $(name_of "$1") does not hear of the controller's log any more"
}
heard() { in_node "$1" sh -c "cat $DATA/__cluster_metadata-0/*.log | wc -c"; }

# operator TOOL WORDS... : a tool of an operator's. It asks a broker by chance, also one that the controller is out of reach of and
# that lets it wait; then it is asked again. Where no broker runs it asks the controller.
operator() {
    local tool=$1 n bootstrap="" tries=0
    shift
    for n in $(seq 1 "$BROKERS"); do hears "$n" && bootstrap="$bootstrap,$(at "$n")"; done
    say "$tool $*"
    printf '%s\n' request.timeout.ms=8000 default.api.timeout.ms=8000 | in_tools sh -c 'cat >/tmp/admin.properties'
    local ask=--bootstrap-server
    [ -n "$bootstrap" ] || { ask=--bootstrap-controller bootstrap=$(ip_of 0):9093; }
    until in_tools "$BIN/$tool" "$ask" "${bootstrap#,}" "$CONFIG" /tmp/admin.properties "$@" >"$WORK/told" 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 8 ] && grep -qE 'TimeoutException|DisconnectException' "$WORK/told" && continue
        say "refused: $(grep -E 'Error|Exception' "$WORK/told" | head -n 1)"
        return 1
    done
}
# hears NODE : whether it runs, and the controller is not out of its reach.
hears() { ! listed down "$1" && ! listed paused "$1" && ! cut_off "$1" | grep -qx 0; }
# wants BROKERS [LOG-DIRECTORIES] : the file that Kafka's tool reads.
wants() {
    echo "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[$1]${2:+,\"log_dirs\":[$2]}}]}" | in_tools sh -c 'cat >/tmp/wanted.json'
}
# orders BROKERS [LOG-DIRECTORIES] : newer kinds of this tool ask all replicas for their log directories first, so one that sleeps is awake meanwhile,
# cut off from all other nodes.
orders() {
    local n accepted
    wants "$@"
    for n in $(cat "$WORK/paused"); do docker kill -s CONT "$P-$n" >/dev/null; done
    CONFIG=--command-config operator kafka-reassign-partitions.sh --execute --additional --reassignment-json-file /tmp/wanted.json
    accepted=$?
    for n in $(cat "$WORK/paused"); do docker kill -s STOP "$P-$n" >/dev/null; done
    [ "$accepted" -ne 0 ] || ORDERED=$1
    return "$accepted"
}
reassigns() {
    local before=$ASSIGNED
    orders "$1" && BEFORE=$before ASSIGNED=$1
}
cancels() {
    wants "$ORDERED"
    CONFIG=--command-config operator kafka-reassign-partitions.sh --cancel --reassignment-json-file /tmp/wanted.json && ASSIGNED=$BEFORE ORDERED=$BEFORE
}
# moves NODE : its log to its other log directory.
moves() {
    local n to=$DATA directories=""
    [ "$(home "$1")" = "$SECOND" ] || to=$SECOND
    for n in $(echo "$ORDERED" | tr , ' '); do
        [ "$n" = "$1" ] && directories="$directories,\"$to\"" || directories="$directories,\"any\""
    done
    say "the log of broker $(name_of "$1") is moved to $to"
    orders "$ORDERED" "${directories#,}" || give_up "the log of broker $(name_of "$1") is not moved"
}
# throttles NODE RATE : its moves, to so many bytes a second; 0: not any more.
throttles() {
    local name=replica.alter.log.dirs.io.max.bytes.per.second how=--delete-config
    [ "$2" -eq 0 ] || how=--add-config name=$name=$2
    CONFIG=--command-config operator kafka-configs.sh --alter --entity-type brokers --entity-name "$1" "$how" "$name"
}
# elects NODE : by making it the preferred leader, if it is not, and a preferred election. The others keep their order.
elects() {
    local others
    others=$(echo "$ASSIGNED" | tr , '\n' | grep -vx "$1" | tr '\n' ',')
    [ "${ORDERED%%,*}" = "$1" ] || orders "$1,${others%,}"
    elects_as preferred
}
# elects_as preferred|unclean : whom it must not ask cannot be reached meanwhile.
elects_as() {
    local n
    for n in $(seq 1 "$BROKERS"); do hears "$n" || in_tools ip route add unreachable "$(ip_of "$n")" 2>/dev/null; done
    CONFIG=--admin.config operator kafka-leader-election.sh --election-type "$1" --topic t --partition 0
    for n in $(seq 1 "$BROKERS"); do in_tools ip route del unreachable "$(ip_of "$n")" 2>/dev/null; done
}
sets_min_isr() { sets "min.insync.replicas=$1"; }
sets_unclean() { sets "unclean.leader.election.enable=$1"; }
sets() {
    CONFIG=--command-config operator kafka-configs.sh --alter --entity-type topics --entity-name t --add-config "$1"
}
# switches_elr upgrade|downgrade LEVEL
switches_elr() {
    CONFIG=--command-config operator kafka-features.sh "$1" --feature "eligible.leader.replicas.version=$2"
}
deletes() {
    echo "{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"offset\":$2}]}" | in_tools sh -c 'cat >/tmp/delete.json'
    say "kafka-delete-records.sh before offset $2"
    in_tools "$BIN/kafka-delete-records.sh" --bootstrap-server "$(at "$1")" --offset-json-file /tmp/delete.json >/dev/null 2>&1 || say "refused"
}

# ---------------------------------------------------------------- the end

at_rest() { [ "$(in_order "$(partition isr)")" = "$(in_order "$(partition replicas)")" ]; }

# judges : everything is healed, of every record that was acknowledged the leader's log is asked, and the controller's log whether the
# replicas are those that were ordered last. Its value is the exit code.
judges() {
    say "healing"
    for n in $(cat "$WORK/paused"); do resumes "$n"; done
    while read -r one other tag; do [ -z "$tag" ] || joins "$tag" "$one" "$other"; done <<END
$(cat "$WORK/cuts")
END
    for n in $(cat "$WORK/down"); do starts "$n"; done
    sleep 15
    wrong=0
    give_up_at=$(($(date +%s) + PATIENCE))
    until at_rest; do
        if [ "$(date +%s)" -ge "$give_up_at" ]; then
            say "STUCK: all brokers are up, and after $PATIENCE s not all replicas are in sync"
            wrong=1
            break
        fi
        sleep 2
    done
    standing
    leads=$(leader)
    [ "$leads" -ge 0 ] || { say "NO LEADER: all brokers are up, and nobody leads"; return 1; }
    dumped "$leads" >"$WORK/last"
    for acked in "$WORK"/sent/*.acked; do
        [ -f "$acked" ] || continue
        record=$(basename "$acked" .acked)
        grep -q " payload: $record\$" "$WORK/last" && continue
        lists missing "$record"
        say "LOST: $record was acknowledged, and is not in the log of broker $(name_of "$leads") ($leads), which leads$(deleted_words)"
    done
    grep -q . "$WORK/missing" || say "no acknowledged record is missing"
    now=$(partition replicas)
    pending=$(partition addingReplicas)/$(partition removingReplicas)
    if [ "$(in_order "$now")" != "$(in_order "$ASSIGNED")" ] || [ "$pending" != / ]; then
        wrong=1
        say "DISOBEYED: the replicas $ASSIGNED were ordered and accepted; there are $now, and still to be added/removed: $pending"
    fi
    [ "$wrong" -eq 0 ] && ! grep -q . "$WORK/missing"
}
deleted_words() { docker logs "$P-$leads" 2>&1 | grep -q 'partition=t-0,.*Incremented log start offset' && echo ' (records were deleted: see where the log starts)'; }
