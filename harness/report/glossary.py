"""The words and promises that pages explain."""

from __future__ import annotations

GLOSSARY = {
    "acked": "The client was told that its record is written; with acks=all this means on every in-sync replica, committed.",
    "committed": "Below its leader's high watermark. Promises are about committed records: clients may have read them, whether or "
    "not their producer was told.",
    "LEO": "Log end offset: the offset that the next record of a replica will get, one past its last record.",
    "HW": "High watermark: records below it are committed, that is, on every in-sync replica, and consumers may see them.",
    "leader epoch": "A number that rises by one with every new leader of a partition; each record carries its leader's.",
    "ISR": "In-sync replicas: those that keep up with the leader, from which the next leader is chosen.",
    "ELR": "Eligible leader replicas (KIP-966): out of sync, but known to hold everything that is committed.",
    "truncation": "A follower cuts the end off its log so that it agrees with its leader's.",
    "violation": "An anomaly that the promise (contract) of the run forbids.",
    "near miss": "A state that must not be, one ordinary event before something is lost; nothing is yet.",
    "informational": "Worth knowing, and nothing that any promise forbids.",
    "permitted": "An anomaly that the promise allows, such as losing records after an unclean election.",
}
PROMISES = {
    "documented": "kept as long as at every moment at least one in-sync replica is alive (Kafka's documentation)",
    "kip-966": "kept while fewer than min ISR of the replicas that held the record shut down uncleanly",
    "durable": "kept while fewer than min ISR of the replicas that held the record lost their logs by power, disk or damage "
    "(truncation does not count)",
    "ack-quorum": "kept while fewer bookies than an ack quorum have lost their disks, where entries of ledgers lie on bookies",
    "majority": "kept while no replica has lost its disk, where a majority decides and there is no ISR",
}


COMPARISON_GLOSSARY = {
    "nemesis": "What injects the faults of a plan.",
    "profile": "Which kinds of faults plans are drawn from; under intact no replica ever loses its log.",
    "mark": "Something that a run came to, such as an election while a member lags: where bugs are, and no failure.",
    "valid, invalid, unknown": "No promise was broken; one was; nobody could judge.",
}
OUTCOME_GLOSSARY = {
    "ok": "The operation succeeded.",
    "info": "Nobody knows whether the operation happened: a time-out, a lost connection.",
    "fail": "The operation certainly did not happen.",
}
