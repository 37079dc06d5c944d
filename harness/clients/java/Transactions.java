// Producers of transactions on Kafka's own client, as confluent_transactions.py has them on librdkafka; java_transactions.py starts it.
//
//   java -cp ... Transactions SETTINGS.properties PATIENCE_MS
//
// A line asks for one transaction, a line answers; fields are separated by tabs:
//
//   p1  commit|abort  t:0=1,2,3;t:1=4  25,30                  sends in order, and ms to rest before the second, the third ...
//   p1  ok|fail|info  (error)          (offset=value,...)     of what was acknowledged
//
// Each producer has a thread, and one transaction at a time. At the end of the input the program ends.

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.StringSerializer;

public final class Transactions {
    private static final class Useless extends Exception {
        Useless(Throwable cause) {
            super(name(cause), cause);
        }
    }

    private static Properties settings;
    private static long patienceMs;

    private final String id;
    private KafkaProducer<String, String> producer;

    private Transactions(String id) {
        this.id = id;
    }

    public static void main(String[] arguments) throws Exception {
        settings = new Properties();
        try (Reader file = new FileReader(arguments[0], StandardCharsets.UTF_8)) {
            settings.load(file);
        }
        patienceMs = Long.parseLong(arguments[1]);
        Map<String, Transactions> producers = new HashMap<>();
        Map<String, ExecutorService> threads = new HashMap<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] fields = line.split("\t", -1);
            Transactions own = producers.computeIfAbsent(fields[0], Transactions::new);
            threads.computeIfAbsent(fields[0], id -> Executors.newSingleThreadExecutor()).execute(() -> own.answer(fields));
        }
        System.exit(0);
    }

    private void answer(String[] fields) {
        Map<Long, String> offsets = new HashMap<>();
        String outcome = "fail";
        String error = "aborted";
        boolean committing = false;
        try {
            open();
            try {
                send(fields[2], fields[3], offsets);
                if (fields[1].equals("commit")) {
                    committing = true;
                    toTheEnd(() -> producer.commitTransaction());
                    outcome = "ok";
                    error = "";
                } else {
                    toTheEnd(() -> producer.abortTransaction());
                }
            } catch (KafkaException | ExecutionException | InterruptedException raised) {
                Throwable cause = raised instanceof ExecutionException ? raised.getCause() : raised;
                if (isFatal(cause)) {
                    throw new Useless(cause);
                }
                error = "aborted: " + name(cause);
                toTheEnd(() -> producer.abortTransaction());
            }
        } catch (Useless | KafkaException raised) {
            outcome = committing ? "info" : "fail";
            error = raised instanceof Useless ? raised.getMessage() : name(raised);
            close();
        }
        StringBuilder placed = new StringBuilder();
        offsets.forEach((offset, value) -> placed.append(placed.length() > 0 ? "," : "").append(value));
        synchronized (System.out) {
            System.out.println(id + "\t" + outcome + "\t" + error + "\t" + placed);
            System.out.flush();
        }
    }

    private void open() throws Useless {
        if (producer != null) {
            return;
        }
        Properties own = new Properties();
        own.putAll(settings);
        own.put("client.id", id);
        own.put("transactional.id", id);
        producer = new KafkaProducer<>(own, new StringSerializer(), new StringSerializer());
        toTheEnd(() -> producer.initTransactions());
    }

    private void send(String sends, String breaths, Map<Long, String> offsets) throws ExecutionException, InterruptedException {
        producer.beginTransaction();
        String[] rests = breaths.split(",");
        int turn = 0;
        for (String one : sends.split(";")) {
            if (turn > 0) {
                Thread.sleep(Long.parseLong(rests[turn - 1]));
            }
            turn++;
            String[] parts = one.split("=");
            int colon = parts[0].lastIndexOf(':');
            String topic = parts[0].substring(0, colon);
            int partition = Integer.parseInt(parts[0].substring(colon + 1));
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            String[] values = parts[1].split(",");
            for (String value : values) {
                sent.add(producer.send(new ProducerRecord<>(topic, partition, null, value)));
            }
            producer.flush();
            for (int at = 0; at < values.length; at++) {
                long offset = sent.get(at).get().offset();
                offsets.put(Long.parseLong(values[at]), offset + "=" + values[at]);
            }
        }
    }

    // As often as it must be asked for: what timed out is to be asked for again, and is not done twice.
    private void toTheEnd(Runnable deed) throws Useless {
        long deadline = System.nanoTime() + patienceMs * 1_000_000;
        while (true) {
            try {
                deed.run();
                return;
            } catch (TimeoutException | InterruptException raised) {
                if (System.nanoTime() > deadline) {
                    throw new Useless(raised);
                }
            } catch (KafkaException raised) {
                if (isFatal(raised)) {
                    throw new Useless(raised);
                }
                throw raised;
            }
        }
    }

    private static boolean isFatal(Throwable cause) {
        return cause instanceof ProducerFencedException
                || cause instanceof OutOfOrderSequenceException
                || cause instanceof AuthorizationException
                || cause instanceof UnsupportedVersionException;
    }

    private void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
    }

    private static String name(Throwable cause) {
        return cause == null ? "unknown" : cause.getClass().getSimpleName();
    }
}
