"""Links that are cut, cables that are pulled and clocks that jump reach the nodes they concern, and go again."""

from played_nodes import PlayedNode, PlayedSystem, booted, played_cluster, settle

from tidemark.harness.live import cluster_nodes


def test_link_faults_reach_every_node_they_concern_and_go_again(cluster):
    cluster.set_link_fault(3, ((1, 2), (2, 1), (1, -1)), "slow", 5)
    cluster.clear_link_fault(3)
    cluster.clear_link_fault(3)
    settle(cluster)

    assert sorted(cluster.nodes[1].done) == ["links", "links", "rules", "rules"]
    assert sorted(cluster.nodes[2].done) == ["links", "links", "rules", "rules"]
    assert cluster.nodes[0].done == []
    assert cluster.nodes[1].rules_then[-1] == {}


def test_link_faults_do_not_wait_for_a_process_that_is_starting(cluster):
    """Its process has a lane of its own."""
    node = cluster.nodes[1]
    node.blocked = "start"
    cluster.stop(1, "crash")
    cluster.start(1)
    cluster.set_link_fault(3, ((1, 2),), "cut", 0)
    while not {"links", "rules"} <= set(node.done):
        cluster.run_until(cluster.now_us() + 1_000)
    node.go.set()
    settle(cluster)

    assert node.done[-1] == "start"


def test_a_disconnected_broker_is_cut_off_before_its_cable_is_pulled(cluster):
    cluster.hinder(4, 2, "disconnect", 0)
    settle(cluster)

    assert [what for what in cluster.nodes[2].done if what != "rules"] == ["links", "unplug"]
    assert cluster.links.firewall_of(2)[4] == [
        "-p tcp -m tcp --sport 19092 -j DROP",
        "-p tcp -m tcp --dport 19092 -j DROP",
        "-s 10.0.0.0/32 -j DROP",
        "-s 10.0.0.1/32 -j DROP",
    ]

    cluster.unhinder(4)
    cluster.unhinder(4)
    settle(cluster)

    assert [what for what in cluster.nodes[2].done if what != "rules"] == ["links", "unplug", "links", "plug in"]
    assert cluster.links.firewall_of(2) == {}


def test_a_cable_is_not_pulled_any_more_once_the_disconnection_has_ended(cluster):
    node = cluster.nodes[2]
    node.blocked = "links"
    cluster.hinder(4, 2, "disconnect", 0)
    cluster.unhinder(4)
    node.go.set()
    settle(cluster)

    assert "no need to unplug" in node.done
    assert "unplug" not in node.done


def test_of_two_disconnections_the_last_to_end_puts_the_cable_back(cluster):
    cluster.hinder(4, 2, "disconnect", 0)
    cluster.hinder(5, 2, "disconnect", 0)
    cluster.unhinder(4)
    settle(cluster)

    assert "plug in" not in cluster.nodes[2].done

    cluster.unhinder(5)
    settle(cluster)

    assert cluster.nodes[2].done.count("plug in") == 1


def test_a_clock_jump_is_watched_until_the_process_sees_it(cluster):
    cluster.hinder(6, 1, "clock-jump", -5)
    settle(cluster)

    assert cluster.nodes[1].done == ["hindrances [('clock-jump', -5)]", "clock"]


def test_rules_may_have_to_be_in_force_on_nodes_that_a_fault_does_not_name(monkeypatch):
    class Everywhere(PlayedSystem):
        def spread(self, rules, nodes):
            said = [{**rule, "from": sender} for sender, of_sender in rules.items() for rule in of_sender]
            return dict.fromkeys(nodes, said)

    monkeypatch.setattr(cluster_nodes, "ContainedNode", PlayedNode)
    system = Everywhere()
    cluster = system.cluster = played_cluster(system)
    try:
        booted(system)
        cluster.set_link_fault(3, ((1, 2),), "slow", 5)
        settle(cluster)
        slow = {"kind": None, "to": 2, "effect": "delay", "amount": 5, "from": 1}

        assert [node.rules_then[-1] for node in cluster.nodes.values()] == [{"3": [slow]}] * 3

        cluster.clear_link_fault(3)
        settle(cluster)

        assert [node.rules_then[-1] for node in cluster.nodes.values()] == [{}] * 3
    finally:
        cluster.close()
