import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The story of acknowledged-and-cut.sh.
 *
 *  Arguments: where clients reach broker 1, and broker 2; the port at which other brokers reach broker 1, and the one where it listens;
 *  the file that the assignor makes.
 */
public class AcknowledgedAndCut {
    /** What followers reach broker 1 through, until it is cut. */
    static class Way {
        final ServerSocket listener;
        final ConcurrentLinkedQueue<Socket> sockets = new ConcurrentLinkedQueue<>();

        Way(int from, int to) throws Exception {
            listener = new ServerSocket(from);
            beside(() -> {
                while (true) {
                    try {
                        var near = listener.accept();
                        var far = new Socket("127.0.0.1", to);
                        sockets.add(near);
                        sockets.add(far);
                        passes(near, far);
                        passes(far, near);
                    } catch (Exception cut) {
                        if (listener.isClosed()) {
                            return;
                        }
                    }
                }
            });
        }

        static void passes(Socket from, Socket to) {
            beside(() -> {
                try (from; to) {
                    from.getInputStream().transferTo(to.getOutputStream());
                } catch (Exception cut) {
                    // both are closed
                }
            });
        }

        void cut() throws Exception {
            listener.close();
            for (var socket : sockets) {
                socket.close();
            }
        }
    }

    static final TopicPartition OFFSETS = new TopicPartition("__consumer_offsets", 0), T = new TopicPartition("t", 0);

    static void beside(Runnable work) {
        var thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    static void said(String words) {
        System.out.println(LocalTime.now().truncatedTo(ChronoUnit.MILLIS) + " " + words);
    }

    static KafkaFuture<Void> commit(Admin admin, String group, long offset) {
        return admin.alterConsumerGroupOffsets(group, Map.of(T, new OffsetAndMetadata(offset))).all();
    }

    static String committed(Admin admin, String group) throws Exception {
        return String.valueOf(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(T).offset());
    }

    static void replicas(Admin admin, Integer... nodes) throws Exception {
        admin.alterPartitionReassignments(Map.of(OFFSETS, Optional.of(new NewPartitionReassignment(List.of(nodes))))).all().get();
    }

    static int leader(Admin admin, int inSync) throws Exception {
        var partition = admin.describeTopics(Set.of(OFFSETS.topic())).allTopicNames().get().get(OFFSETS.topic()).partitions().get(0);
        return partition.leader() != null && partition.isr().size() == inSync ? partition.leader().id() : -1;
    }

    static void leads(Admin admin, int node) throws Exception {
        while (leader(admin, 3) != node) {
            try {
                admin.electLeaders(ElectionType.PREFERRED, Set.of(OFFSETS)).all().get();
            } catch (ExecutionException notYet) {
                // in the next round
            }
            Thread.sleep(20);
        }
    }

    /** A consumer of group h, for ever. Comes back when its coordinator works on its assignment. */
    static void joins(String servers, Path busy) throws Exception {
        var with = Map.<String, Object>of("bootstrap.servers", servers, "group.id", "h", "group.protocol", "consumer");
        beside(() -> {
            var consumer = new KafkaConsumer<>(with, new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(Set.of("t"));
            while (true) {
                consumer.poll(Duration.ofMillis(100));
            }
        });
        while (!Files.exists(busy)) {
            Thread.sleep(10);
        }
    }

    public static void main(String[] args) throws Exception {
        var way = new Way(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        var busy = Path.of(args[4]);
        var one = Admin.create(Map.of("bootstrap.servers", args[0]));
        var two = Admin.create(Map.of("bootstrap.servers", args[1]));
        while (one.describeCluster().nodes().get().size() < 3) {
            Thread.sleep(200);
        }
        one.createTopics(Set.of(new NewTopic("t", Map.of(0, List.of(1, 2, 3))))).all().get();
        commit(one, "g", 10).get();
        replicas(one, 1, 2, 3);
        leads(one, 1);
        replicas(one, 2, 1, 3);
        commit(one, "later", 0).get();
        joins(args[0], busy);
        Files.delete(busy);
        commit(one, "later", 0).get();
        said("broker 1 leads __consumer_offsets, all are in sync; the group g has committed " + committed(one, "g"));
        way.cut();
        said("brokers 2 and 3 cannot fetch from 1 any more");
        var acknowledged = commit(one, "g", 20);
        Thread.sleep(300);
        said("g commits 20, which waits for them");
        joins(args[0], busy);
        said("a consumer of another group has joined: broker 1 works on its assignment");
        leads(two, 2);
        said("broker 2 is elected, which is the preferred leader, and in sync" + (acknowledged.isDone() ? "; g's commit has an end" : ""));
        commit(two, "later", 1).get();
        said("a third group has committed 1" + (acknowledged.isDone() ? "; g's commit has an end" : ""));
        String answer = "acknowledged";
        try {
            acknowledged.get();
        } catch (ExecutionException refused) {
            answer = "refused: " + refused.getCause();
        }
        said("g's commit of 20 is " + answer);
        String there = committed(two, "g");
        said("g has committed " + there);
        if (answer.equals("acknowledged") && !there.equals("20")) {
            System.out.println("LOST: A COMMIT THAT WAS ACKNOWLEDGED");
        }
        System.exit(0);
    }
}
