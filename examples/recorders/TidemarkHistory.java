import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Writes down what clients do: a line of JSON for the beginning and one for the end of each operation, as {@code tidemark check} reads
 * them. Threads may share it. Java 11 or newer and nothing else: copy this file beside your test.
 *
 * <p>Values are what JSON can say: null, Boolean, Number, String, Iterable (a list) and Map.
 */
public final class TidemarkHistory implements AutoCloseable {
    private final Writer out;
    private final long begun = System.nanoTime();

    /** Begins the file anew. */
    public TidemarkHistory(Path path) throws IOException {
        out = Files.newBufferedWriter(path);
    }

    /** Begins an operation: call it before the client does. One process does one thing at a time. */
    public Operation operation(String process, String f, Object value) {
        return new Operation(process, f, value, "");
    }

    /** Begins a read of what is there in the end, when all else is done. */
    public Operation finalRead(String process, String f, Object value) {
        return new Operation(process, f, value, ",\"final\":true");
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** One operation. Closed without a word of how it went (an exception left its block), it counts as unknown. */
    public final class Operation implements AutoCloseable {
        private final String process;
        private final String f;
        private final Object value;
        private final String more;
        private boolean ended;

        private Operation(String process, String f, Object value, String more) {
            this.process = process;
            this.f = f;
            this.value = value;
            this.more = more;
            write("invoke", value, null);
        }

        /** It was done as it was asked for. */
        public void ok() {
            end("ok", value, null);
        }

        /** It was done, and this came of it. */
        public void ok(Object result) {
            end("ok", result, null);
        }

        /** It certainly was not done, nor will be. */
        public void fail(Object error) {
            end("fail", value, error);
        }

        /** It may have been done, or will be, or not: a time-out, a broken connection. */
        public void info(Object error) {
            end("info", value, error);
        }

        @Override
        public void close() {
            if (!ended) {
                info("nobody said how it went");
            }
        }

        private void end(String how, Object result, Object error) {
            if (ended) {
                throw new IllegalStateException("this " + f + " of " + process + " has ended: say once how it went");
            }
            ended = true;
            write(how, result, error);
        }

        private void write(String how, Object what, Object error) {
            String told = error == null ? "" : ",\"error\":" + json(error instanceof Throwable ? error.getClass().getSimpleName() : error.toString());
            String half = ",\"process\":" + json(process) + ",\"type\":\"" + how + "\",\"f\":" + json(f) + ",\"value\":" + json(what) + more + told + "}\n";
            synchronized (out) {
                try {
                    out.write("{\"kind\":\"op\",\"time\":" + (System.nanoTime() - begun) / 1000 + half);
                    out.flush();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private static String json(Object value) {
        StringBuilder text = new StringBuilder();
        add(text, value);
        return text.toString();
    }

    private static void add(StringBuilder text, Object value) {
        if (value instanceof Map) {
            text.append('{');
            String comma = "";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                text.append(comma);
                add(text, String.valueOf(entry.getKey()));
                text.append(':');
                add(text, entry.getValue());
                comma = ",";
            }
            text.append('}');
        } else if (value instanceof Iterable) {
            text.append('[');
            String comma = "";
            for (Object one : (Iterable<?>) value) {
                text.append(comma);
                add(text, one);
                comma = ",";
            }
            text.append(']');
        } else if (value == null || value instanceof Boolean || value instanceof Number && Double.isFinite(((Number) value).doubleValue())) {
            text.append(value);
        } else if (value instanceof CharSequence) {
            text.append('"');
            for (char c : value.toString().toCharArray()) {
                if (c == '"' || c == '\\') {
                    text.append('\\').append(c);
                } else if (c < ' ' || Character.isSurrogate(c)) {
                    text.append(String.format("\\u%04x", (int) c));
                } else {
                    text.append(c);
                }
            }
            text.append('"');
        } else {
            throw new IllegalArgumentException("JSON cannot say " + value + ", a " + value.getClass().getName());
        }
    }
}
