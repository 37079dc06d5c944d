import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;

/** The story of leads-by-old-voters.sh: which controllers hang, and what an operator orders.
 *
 *  Arguments: of each of three controllers its address, the id of its directory, and of its process. With one more, whatever it is, the
 *  leader writes nothing while it is cut off.
 */
public class LeadsByOldVoters {
    static final String[] at = new String[3], directories = new String[3], processes = new String[3];

    static void signal(String which, int... nodes) throws Exception {
        for (int node : nodes) {
            new ProcessBuilder("kill", which, processes[node]).start().waitFor();
        }
    }

    static void says(String words, Object... of) {
        System.out.println(words.formatted(of));
    }

    /** One that asks these only. */
    static Admin asks(int... nodes) {
        var some = new ArrayList<String>();
        for (int node : nodes) {
            some.add(at[node]);
        }
        return Admin.create(Map.of("bootstrap.controllers", String.join(",", some)));
    }

    /** Who leads, as far as these know, once it is another than that one. */
    static int leaderBut(int that, int... asked) throws Exception {
        for (int tries = 0; tries < 60; tries++) {
            var admin = asks(asked);
            try {
                int leads = admin.describeMetadataQuorum().quorumInfo().get(3, TimeUnit.SECONDS).leaderId();
                if (leads >= 0 && leads != that) {
                    return leads;
                }
            } catch (Exception again) {
                // they have not heard of it yet
            } finally {
                admin.close(Duration.ZERO);
            }
            Thread.sleep(200);
        }
        throw new IllegalStateException("nobody leads but " + that);
    }

    static void removes(int node, int leader) throws Exception {
        try (var admin = asks(leader)) {
            admin.removeRaftVoter(node, Uuid.fromString(directories[node])).all().get(60, TimeUnit.SECONDS);
        }
        says("an operator removes %d, and is answered that it is done", node);
    }

    public static void main(String[] args) throws Exception {
        for (int node = 0; node < 3; node++) {
            at[node] = args[3 * node];
            directories[node] = args[3 * node + 1];
            processes[node] = args[3 * node + 2];
        }
        int one = leaderBut(-1, 0, 1, 2), two = (one + 1) % 3, three = (one + 2) % 3;
        var settings = new ArrayList<AlterConfigOp>();
        for (int number = 0; number < 300; number++) {
            settings.add(new AlterConfigOp(new ConfigEntry("of.nobody." + number, "1"), AlterConfigOp.OpType.SET));
        }
        var brokers = new ConfigResource(ConfigResource.Type.BROKER, "");
        var cutOff = asks(one);
        cutOff.describeMetadataQuorum().quorumInfo().get();
        signal("-STOP", two, three);
        Thread.sleep(800); // a fetch that is under way is answered within half a second
        if (args.length == 9) {
            cutOff.incrementalAlterConfigs(Map.of(brokers, settings));
        }
        Thread.sleep(500);
        signal("-STOP", one);
        cutOff.close(Duration.ZERO);
        signal("-CONT", two, three);
        int leads = leaderBut(one, two, three);
        signal("-CONT", one);
        says("%d led, and was cut off%s; %d leads", one, args.length == 9 ? " with 300 records that nobody took" : "", leads);
        Thread.sleep(3000);
        for (int tries = 0; leads != one; tries++) {
            if (tries == 12) {
                throw new IllegalStateException(one + " does not come to lead");
            }
            int before = leads;
            signal("-STOP", before);
            leads = leaderBut(before, List.of(0, 1, 2).stream().filter(node -> node != before).mapToInt(node -> node).toArray());
            signal("-CONT", before);
            Thread.sleep(3000);
        }
        says("%d has followed, and leads again", one);
        removes(two, one);
        removes(three, one);
    }
}
