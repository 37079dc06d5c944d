// Records that were accepted are given to a share group again (docs/findings/share-start-offset.md). Kafka's own clients, default
// settings, and no fault of any broker: a consumer that holds records is killed, after one of its partitions was assigned to another.
//
//   java -cp "kafka_2.13-4.3.1/libs/*" ShareStartOffset.java HOST:PORT
//   java -cp "kafka_2.13-4.3.1/libs/*" ShareStartOffset.java HOST:PORT control     the consumer asks for nothing in between
//
// Wants a running cluster of Kafka 4.2 or newer, and a JDK (17 or newer). It takes a minute and a half.

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class ShareStartOffset {
    static final long BEGIN = System.currentTimeMillis(), LOCK_MS = 30_000;
    static String servers, group, topic;

    public static void main(String[] args) throws Exception {
        servers = args[0];
        boolean control = args.length % 2 == 0;
        if (args.length > 2) {
            group = args[1];
            topic = args[2];
            hold(!control);
        }
        group = "g" + BEGIN + "-" + ProcessHandle.current().pid();
        topic = "t" + group;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            int brokers = admin.describeCluster().nodes().get().size();
            admin.createTopics(List.of(new NewTopic(topic, 2, (short) Math.min(3, brokers)))).all().get();
            ConfigEntry earliest = new ConfigEntry("share.auto.offset.reset", "earliest");
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, group),
                List.of(new AlterConfigOp(earliest, AlterConfigOp.OpType.SET)))).all().get();
        }
        var m1 = new ArrayList<>(List.of("java", "-cp", System.getProperty("java.class.path"), "ShareStartOffset.java", servers, group, topic));
        if (control) m1.add("control");
        Process holds = new ProcessBuilder(m1).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String held = holds.inputReader().readLine();
        if (!"holds them".equals(held)) throw new IllegalStateException("m1 " + held + " of 20 records; try again");
        say("m1 is given records 0 to 9 of each partition, and is slow");
        try (Member m2 = new Member("m2")) {
            m2.takes(20_000);
            say("m2 has joined, and one of the partitions is its own now" + (control ? "" : "; m1 has renewed its locks"));
            holds.destroyForcibly().waitFor();
        }
        long over = System.currentTimeMillis() + LOCK_MS;
        say("m1 is killed, and m2 has left");
        Map<Integer, TreeSet<Long>> accepted;
        try (Member m3 = new Member("m3")) {
            accepted = m3.takes(7_000);
            sendTenToEach();
            m3.takes(7_000).forEach((partition, offsets) -> accepted.computeIfAbsent(partition, it -> new TreeSet<>()).addAll(offsets));
            say("m3 has joined, was given " + accepted + ", accepted them, and that is confirmed");
            m3.takes(over - System.currentTimeMillis());
        }
        say("m1's locks are over, and m3 has left");
        try (Member m4 = new Member("m4")) { // for so long m1 still counts as a member, and has a partition
            var again = m4.takes(40_000);
            again.forEach((partition, offsets) -> offsets.retainAll(accepted.getOrDefault(partition, new TreeSet<>())));
            again.values().removeIf(TreeSet::isEmpty);
            say("m4 is given of those " + again);
            System.out.println(again.isEmpty() ? "NONE IS GIVEN AGAIN" : "ACCEPTED RECORDS ARE GIVEN AGAIN");
        }
    }

    /** What m1 does, in a process of its own. */
    static void hold(boolean renew) throws Exception {
        Member m1 = new Member("m1");
        List<ConsumerRecord<String, String>> held = new ArrayList<>();
        m1.takes(10_000); // it joins, and there is nothing yet
        Thread.sleep(1_000); // no request of it waits
        sendTenToEach();
        while (held.isEmpty()) { // one asks, and the next one has what came
            Thread.sleep(2_000);
            m1.consumer.poll(Duration.ZERO).forEach(held::add);
        }
        System.out.println(held.size() == 20 ? "holds them" : "holds " + held.size());
        Thread.sleep(15_000); // m2 joins
        if (renew) {
            held.forEach(record -> m1.consumer.acknowledge(record, AcknowledgeType.RENEW));
            m1.consumer.poll(Duration.ofMillis(500));
        }
        Thread.sleep(60_000);
    }

    static void sendTenToEach() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers, "acks", "all"), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 20; i++) producer.send(new ProducerRecord<>(topic, i % 2, null, "record"));
        }
    }

    static void say(String what) {
        System.out.printf("%5.1f s  %s%n", (System.currentTimeMillis() - BEGIN) / 1e3, what);
    }

    static class Member implements AutoCloseable {
        final KafkaShareConsumer<String, String> consumer;

        Member(String name) {
            consumer = new KafkaShareConsumer<>(Map.of("bootstrap.servers", servers, "group.id", group, "client.id", name,
                "share.acknowledgement.mode", "explicit"), new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of(topic));
        }

        /** Partition and offsets of the records that it is given in so many ms, each accepted, and confirmed by the broker. */
        Map<Integer, TreeSet<Long>> takes(long ms) {
            var taken = new TreeMap<Integer, TreeSet<Long>>();
            for (long end = System.currentTimeMillis() + ms; System.currentTimeMillis() < end;) {
                consumer.poll(Duration.ofMillis(500)).forEach(record -> {
                    taken.computeIfAbsent(record.partition(), it -> new TreeSet<>()).add(record.offset());
                    consumer.acknowledge(record, AcknowledgeType.ACCEPT);
                });
                confirmed();
            }
            return taken;
        }

        void confirmed() {
            consumer.commitSync().values().forEach(error -> error.ifPresent(it -> { throw it; }));
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
