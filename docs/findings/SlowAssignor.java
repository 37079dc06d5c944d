import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;

/** An assignor of consumer groups that takes its time, as one may for a large group, and assigns nothing.
 *
 *  Properties of the broker's JVM: `assignor.ms` is how long it takes (900), `assignor.begun` a file that it makes when it begins.
 */
public class SlowAssignor implements ConsumerGroupPartitionAssignor {
    @Override
    public String name() {
        return "slow";
    }

    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
        try {
            if (System.getProperty("assignor.begun") != null) {
                Files.writeString(Path.of(System.getProperty("assignor.begun")), "");
            }
            Thread.sleep(Long.getLong("assignor.ms", 900));
        } catch (Exception failed) {
            throw new RuntimeException(failed);
        }
        return new GroupAssignment(Map.of());
    }
}
