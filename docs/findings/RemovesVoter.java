import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

/** Removes a controller that hangs from the voters, and lets it go on.
 *
 *  Arguments: the controllers; the one to remove, the id of its directory, and of its process. With one more, whatever it is, it goes on
 *  first.
 */
public class RemovesVoter {
    static void signal(String which, String process) throws Exception {
        new ProcessBuilder("kill", which, process).start().waitFor();
    }

    public static void main(String[] args) throws Exception {
        try (var admin = Admin.create(Map.of("bootstrap.controllers", args[0]))) {
            admin.describeMetadataQuorum().quorumInfo().get();
            signal("-STOP", args[3]);
            Thread.sleep(2300); // who has not fetched for a second is told every second who is the active one, and 2 s are left for the answer
            if (args.length > 4) {
                signal("-CONT", args[3]);
                Thread.sleep(500);
            }
            admin.removeRaftVoter(Integer.parseInt(args[1]), Uuid.fromString(args[2])).all().get();
            signal("-CONT", args[3]);
        }
    }
}
