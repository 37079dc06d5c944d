import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/** The transactions of absent-transactions.sh: what each line of the input asks for.
 *
 *  Two producers: `goes-on` with topic t1 and group g1, and `gone` with t2 and g2. Each begins with a transaction that is committed.
 */
public class AbsentTransaction {
    record Side(KafkaProducer<String, String> producer, String topic, String group) {
        void begin(String key, String value, long offset) throws Exception {
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, 0, key, value)).get();
            var committed = Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(offset));
            producer.sendOffsetsToTransaction(committed, new ConsumerGroupMetadata(group));
        }
    }

    static Side side(String servers, String name, String topic, String group) {
        var with = new Properties();
        with.put("bootstrap.servers", servers);
        with.put("transactional.id", name);
        with.put("transaction.timeout.ms", "300000");
        var producer = new KafkaProducer<>(with, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return new Side(producer, topic, group);
    }

    public static void main(String[] args) throws Exception {
        var sides = new Side[] {side(args[0], "goes-on", "t1", "g1"), side(args[0], "gone", "t2", "g2")};
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            switch (line) {
                case "commit" -> {
                    for (var side : sides) {
                        side.begin("k", "committed", 1);
                        side.producer.commitTransaction();
                    }
                }
                case "open" -> {
                    for (var side : sides) {
                        side.begin("k", "ABORTED", 1000);
                    }
                }
                case "abort" -> {
                    for (var side : sides) {
                        side.producer.abortTransaction();
                    }
                    sides[1].producer.close();
                }
                case "go on" -> {
                    sides[0].producer.beginTransaction();
                    sides[0].producer.send(new ProducerRecord<>("t1", 0, "later", "committed")).get();
                    sides[0].producer.sendOffsetsToTransaction(
                            Map.of(new TopicPartition("t2", 0), new OffsetAndMetadata(1)), new ConsumerGroupMetadata("g1"));
                    sides[0].producer.commitTransaction();
                }
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("done: " + line);
        }
    }
}
