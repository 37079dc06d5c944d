"""What a link fault asks of each node, and that a node is brought to it, whatever happens to the node meanwhile."""

import re

import pytest

from tidemark.harness.live.link_faults import LinkFault, LinkFaults, NodeLinks, drop_rules, transport_rules
from tidemark.harness.machines import firewall, netem
from tidemark.harness.machines.errors import NodeError

IPS = {0: "10.77.1.10", 1: "10.77.1.11", 2: "10.77.1.12"}


class FakeControl:
    """Plays iptables and the admin port of one node."""

    def __init__(self, *, broken=False):
        self.name = "b1"
        self.chains = {}
        self.rules = {}
        self.scripts = []
        self.asked = []
        self.broken = broken
        self.admin = self

    def run(self, script, *, to="", timeout_s=30.0, stdin=None):
        self.scripts.append(script)
        for chain in re.findall(r"-X (\w+)", script):
            self.chains.pop(chain, None)
        if stdin is not None and not self.broken:
            (chain,) = re.findall(r"^:(\w+) ", stdin, re.MULTILINE)
            self.chains[chain] = re.findall(rf"^-A {chain} (.*)$", stdin, re.MULTILINE)
        if "qdisc show" in script:
            return "qdisc netem 14:\n" * script.count("netem delay")
        lines = ["-P INPUT ACCEPT"]
        for chain, rules in self.chains.items():
            lines += [f"-N {chain}", f"-A INPUT -j {chain}", f"-A OUTPUT -j {chain}"]
            lines += [f"-A {chain} {rule}" for rule in rules]
        return "\n".join(lines)

    def ask(self, do, *, key, rules=None):
        self.asked.append((do, key))
        if do == "transport":
            self.rules[key] = rules
        else:
            del self.rules[key]


def faults(delay="transport", **by_key):
    made = LinkFaults(IPS, delay)
    for key, fault in by_key.items():
        made.add(int(key[1:]), fault)
    return made


CUT = LinkFault(((1, 2), (2, 1), (-1, 1), (1, -1)), "cut")
SLOW = LinkFault(((1, 2), (2, 1)), "slow", 30_000)
DEAF = LinkFault(((0, 2),), "lost-leadership")


# What is asked of a node


def test_a_cut_is_the_receivers_business():
    assert drop_rules(LinkFault(((1, 2),), "cut"), 2, IPS) == ["-s 10.77.1.11/32 -j DROP"]
    assert drop_rules(LinkFault(((1, 2),), "cut"), 1, IPS) == []


def test_clients_are_cut_at_the_listener_they_use_and_ssh_never():
    assert drop_rules(CUT, 1, IPS) == [
        "-s 10.77.1.12/32 -j DROP",
        "-p tcp -m tcp --dport 19092 -j DROP",
        "-p tcp -m tcp --sport 19092 -j DROP",
    ]


def test_a_lossy_link_drops_by_chance():
    rules = drop_rules(LinkFault(((0, 1),), "lossy", 250), 1, IPS)

    assert rules == ["-s 10.77.1.10/32 -m statistic --mode random --probability 0.2500 -j DROP"]


def test_leadership_messages_are_late_or_lost_at_the_controller():
    late = LinkFault(((0, 2),), "late-leadership", 5_000)

    assert transport_rules(late, 0) == [{"kind": "leadership", "to": 2, "effect": "delay", "amount": 5_000}]
    assert transport_rules(DEAF, 0) == [{"kind": "leadership", "to": 2, "effect": "drop", "amount": 0}]
    assert transport_rules(DEAF, 2) == []


def test_without_a_controller_the_others_do_not_tell_who_leads():
    late = LinkFault(((1, 2), (3, 2)), "late-leadership", 5_000)

    assert transport_rules(late, 3) == [{"kind": "leadership", "to": 2, "effect": "delay", "amount": 5_000}]
    assert transport_rules(late, 2) == []


def test_talk_with_the_controller_is_late_or_lost_at_whoever_says_it():
    lost = LinkFault(((2, 0), (0, 2)), "lost-isr-changes")

    assert transport_rules(lost, 2) == [{"kind": "ISR changes", "to": 0, "effect": "drop", "amount": 0}]
    assert transport_rules(lost, 0) == [{"kind": "ISR answers", "to": 2, "effect": "drop", "amount": 0}]
    assert transport_rules(lost, 1) == []


def test_without_netem_each_sender_delays_its_own_messages():
    made = faults(k3=SLOW)

    assert made.transport_of(1) == {"3": [{"kind": None, "to": 2, "effect": "delay", "amount": 30_000}]}
    assert made.delays_of(1) == {}


def test_with_netem_the_delays_of_all_faults_add_up():
    made = faults("netem", k1=SLOW, k2=SLOW)

    assert made.delays_of(1) == {"10.77.1.12": 60_000}
    assert made.transport_of(1) == {}


def test_netem_gets_a_band_for_each_receiver_and_numbers_in_hexadecimal():
    script = netem.delay_script({f"10.0.0.{n}": 10_000 for n in range(1, 9)})

    assert "prio bands 11" in script
    assert "parent 1:4 handle 14: netem delay 5000us 5000us limit 100000" in script
    assert "match ip dst 10.0.0.8/32 flowid 1:b" in script
    assert netem.delay_script({}) == "tc qdisc del dev $dev root 2>/dev/null || :"


def at_the_receiver(rules, nodes):
    """A system whose messages are held up where they arrive."""
    found = {node: [] for node in nodes}
    for sender, of_sender in rules.items():
        for rule in of_sender:
            found[rule["to"]].append({**rule, "from": sender})
    return found


def test_a_system_may_hold_messages_up_elsewhere_than_at_their_sender():
    made = LinkFaults(IPS, "transport", at_the_receiver)
    made.add(5, DEAF)
    made.add(6, CUT)

    assert made.transport_of(0) == made.transport_of(1) == {}
    assert made.transport_of(2) == {"5": [{"kind": "leadership", "to": 2, "effect": "drop", "amount": 0, "from": 0}]}


def test_everybody_may_then_have_something_to_do_for_a_fault():
    assert LinkFaults(IPS, "transport").told_of(DEAF) == {0, 2}
    assert LinkFaults(IPS, "transport", at_the_receiver).told_of(DEAF) == {0, 1, 2}


def test_firewalls_and_the_kernels_delays_are_where_they_were():
    made = LinkFaults(IPS, "netem", at_the_receiver)
    made.add(5, SLOW)
    made.add(6, CUT)

    assert made.transport_of(2) == {}
    assert made.delays_of(1) == {"10.77.1.12": 30_000}
    assert list(made.firewall_of(1)) == list(made.firewall_of(2)) == [6]


# Bringing a node to it


@pytest.fixture
def control():
    return FakeControl()


def test_rules_are_put_in_force_once_and_taken_off_once(control):
    made = faults(k7=CUT)
    links = NodeLinks(control, 1, made)
    links.apply_to_machine()
    links.apply_to_machine()

    assert list(control.chains) == ["TM7"]
    assert len(control.scripts) == 1

    made.remove(7)
    links.apply_to_machine()

    assert control.chains == {}


def test_rules_that_do_not_take_are_an_error():
    links = NodeLinks(FakeControl(broken=True), 1, faults(k7=CUT))

    with pytest.raises(NodeError, match=r"the firewall rules of fault 7 are not in force \(0 of 3\)"):
        links.apply_to_machine()


def test_faults_on_one_link_have_chains_of_their_own(control):
    made = faults(k1=CUT, k2=CUT)
    links = NodeLinks(control, 1, made)
    links.apply_to_machine()
    made.remove(1)
    links.apply_to_machine()

    assert list(control.chains) == ["TM2"]


def test_a_machine_that_was_restarted_gets_its_rules_back(control):
    links = NodeLinks(control, 1, faults(k7=CUT))
    links.apply_to_machine()
    control.chains.clear()
    links.machine_restarted()

    assert list(control.chains) == ["TM7"]


def test_a_process_that_is_not_there_gets_its_rules_when_it_is(control):
    made = faults(k5=DEAF)
    links = NodeLinks(control, 0, made)
    links.apply_to_process()

    assert control.asked == []

    links.process_began(anew=True)

    assert control.asked == [("transport", "5")]


def test_a_new_process_gets_the_rules_of_its_predecessor_again(control):
    links = NodeLinks(control, 0, faults(k5=DEAF))
    links.process_began(anew=True)
    links.process_ends()
    links.process_began(anew=True)

    assert control.asked == [("transport", "5"), ("transport", "5")]


def test_a_paused_process_gets_what_changed_meanwhile(control):
    made = faults(k5=DEAF)
    links = NodeLinks(control, 0, made)
    links.process_began(anew=True)
    links.process_ends()
    made.remove(5)
    made.add(6, DEAF)
    links.apply_to_process()
    links.process_began(anew=False)

    assert control.asked == [("transport", "5"), ("transport-clear", "5"), ("transport", "6")]


def test_a_network_interface_that_was_replaced_gets_its_delays_back(control):
    links = NodeLinks(control, 1, faults("netem", k1=SLOW))
    links.apply_to_machine()
    links.reconnected()

    assert sum("netem delay" in script for script in control.scripts) == 2


def test_leftover_chains_are_found_in_a_listing():
    listing = "-P INPUT ACCEPT\n-N DOCKER\n-N TM10\n-N TM2\n-A INPUT -j TM2\n"

    assert firewall.leftovers(listing) == ["TM2", "TM10"]


# In containers


@pytest.mark.docker
def test_a_cut_holds_packets_back_one_way_and_lets_ssh_through(cluster):
    from tidemark.harness.machines.node_control import NodeControl

    one, two = (NodeControl(cluster.machines[node]) for node in (1, 2))
    ips = {node: machine.inner_ip for node, machine in cluster.machines.items()}
    listening = "timeout 5 python3 -m http.server 9092 >/dev/null 2>&1 &\n"
    for control in (one, two):
        control.run(listening)

    def reaches(control, ip):
        probe = f"""python3 -c '
import socket, time
until = time.monotonic() + 2
while True:
    try:
        socket.create_connection(("{ip}", 9092), 0.4).close(); print("yes"); break
    except OSError as error:
        if isinstance(error, TimeoutError) or time.monotonic() > until:
            print("no"); break
'"""
        return control.run(probe).strip() == "yes"

    assert reaches(one, ips[2])
    made = LinkFaults(ips, "transport")
    links = NodeLinks(two, 2, made)
    made.add(3, LinkFault(((1, 2),), "cut"))
    links.apply_to_machine()

    assert not reaches(one, ips[2])
    assert firewall.leftovers(two.run("iptables -S")) == ["TM3"]

    made.remove(3)
    links.apply_to_machine()

    assert reaches(one, ips[2])
    assert firewall.leftovers(two.run("iptables -S")) == []


@pytest.mark.docker
def test_rules_of_an_earlier_run_are_removed_whoever_put_them_there(cluster):
    from tidemark.harness.machines.node_control import NodeControl

    control = NodeControl(cluster.machines[1])
    firewall.install(control, 1, ["-s 10.77.9.9/32 -j DROP"])
    firewall.install(control, 2, ["-s 10.77.9.9/32 -m statistic --mode random --probability 0.5000 -j DROP"])
    firewall.remove_all(control)

    assert firewall.leftovers(control.run("iptables -S")) == []
