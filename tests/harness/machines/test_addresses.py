"""Ports and subnets that nobody else has."""

import socket
from ipaddress import IPv4Network

import pytest

from tidemark.harness.machines import addresses
from tidemark.harness.machines.addresses import free_ports, subnets


def test_ports_are_below_those_of_outgoing_connections_and_differ():
    ports = free_ports(50)

    assert len(set(ports)) == 50
    assert all(20_000 <= port < 32_768 for port in ports)


def test_a_port_somebody_listens_at_is_not_given(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        monkeypatch.setattr(addresses, "PORTS", range(taken, taken + 1))

        with pytest.raises(OSError, match=rf"^fewer than 1 free ports from {taken} to {taken}$"):
            free_ports(1)


def test_every_subnet_comes_once_but_for_those_the_host_has_a_route_to(monkeypatch):
    monkeypatch.setattr(addresses, "_routes", lambda: [IPv4Network("10.77.8.0/22"), IPv4Network("192.168.0.0/16")])

    found = list(subnets())

    assert len(set(found)) == 252
    assert not any(subnet.overlaps(IPv4Network("10.77.8.0/22")) for subnet in found)


def test_routes_are_read_as_the_kernel_writes_them(monkeypatch):
    table = (
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "eth0\t00014D0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    )
    monkeypatch.setattr(addresses.Path, "read_text", lambda self: table)

    assert addresses._routes() == [IPv4Network("10.77.1.0/24")]
