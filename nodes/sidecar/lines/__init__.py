"""What brokers say in their logs: lines → events (:mod:`tidemark.nodes.sidecar.line_events`), by version.

Verified on real brokers, with recordings under ``tests/nodes/sidecar/lines``: **2.8.2** with ZooKeeper at protocols 0.10.2,
1.1, 2.0 and 2.8; **3.7.2**, **3.9.1**, **4.0.0**, **4.1.1**, **4.2.1** and **4.3.1** with KRaft (``record.py`` there made the last
two, and says how). A version of another series gets the nearest dialect, which is then not ``understood``: its lines are read as
well as can be, and the harness answers ``unknown`` for what depends on them. ``…`` leaves something out.

Where two versions differ is best seen in their classes: of all the lines below, 4.2 words ``Skipped the become-leader …`` and the
committed state otherwise than 4.1, and 4.3 has ``BrokerLifecycleManager``, and so its logger, in another package.

=====================================================================  ======================================  ==================
line (of logger)                                                       event                                   versions
=====================================================================  ======================================  ==================
``Completed load of Log(dir=…, logStartOffset=0, logEndOffset=14) …``  Loaded                                  all
(LogManager)
``Created log for partition t-0 in …`` (LogManager)                    Loaded, LEO 0                           all
``Appended message set with last offset: 9, first offset: 4, next      Appended; a follower's "first" is       2.8: Log; then
offset: 10, …``                                                        ``None`` in old message formats, and    UnifiedLog
                                                                       is then where the log ended
``Truncating to offset 20``                                            Truncated                               the same
``Truncating to 20 has no effect …``                                   none                                    the same
``Truncate and start at offset 7…``                                    TruncatedFully                          the same
``Log for partition t-0 is renamed to … scheduled for deletion``       Removed (LogManager)                    all
``Log in …/t-0 marked stray and renamed to …-stray``, and then         Loaded, Removed (LogManager)            KRaft from 3.7
``Completed load of Log(dir=…-stray, …)``                                                                      on
``Incremented log start offset to 7 due to leader offset increment``   LogStart; other reasons: ``client       the same
                                                                       delete records request``, ``segment
                                                                       deletion``
``Setting high watermark (offset=17…``                                 HighWatermark, if it is another one     the same
``Leader t-0 … starts at leader epoch 2 from offset 17 …``             Leads                                   all
(state.change.logger)
``Follower t-0 starts at leader epoch 1 from offset 14 …``             Follows; its leader: ``Current leader   all
                                                                       is 2.`` from 3.x on, before it the
                                                                       ``Received LeaderAndIsr request``
``… cannot become follower since the new leader -1 is unavailable``    Follows, no leader                      2.8
``Sending ALTER_ISR / ALTER_PARTITION request …`` (NetworkClient)      IsrView, ``maximal`` grows              2.8 from 2.7 on, all
``Writing new ISR List(2, 1, 3) to ZooKeeper …`` (ZkIsrManager)        the same                                2.8 below 2.7
``ISR updated to 1,3 and version updated to [6]`` (Partition)          IsrView                                 all
``Skipped the become-leader … partitionEpoch=4 … ISR [2,1]``           IsrView: the controller's doing         KRaft
``… has been reset to the latest committed state …`` (Partition)       IsrView, ``maximal`` shrinks            KRaft
``[ReplicaFetcher …] Sending OFFSET_FOR_LEADER_EPOCH request …``       Asked                                   2.8 below 2.7
``[ReplicaFetcher …] Received OFFSET_FOR_LEADER_EPOCH response …``     Answered, or Refused                    2.8 below 2.7
``[ReplicaFetcher …] Received FETCH response …`` (NetworkClient)       Fetched; Answered, with an offset, if   all
                                                                       it has a diverging epoch; Refused
``Partition t-0 marked as failed``, ``Unexpected error occurred …``,   Refused                                 all
``Found invalid messages …`` (ReplicaFetcherThread)
``Truncating partition t-0 …``, ``leader replied with …``,             none; the reason of the cut to come     all
``The leader's offset …``, ``Reset fetch offset …`` (the same)
``Registered broker 1 at path … (broker epoch): 76`` (KafkaZkClient)   Registered                              2.8
``Successfully registered broker 1 with broker epoch 14``              Registered                              KRaft
``[KafkaServer id=1] started``; ``… Kafka Server started``             Started                                 2.8; KRaft
``[KafkaServer id=1] shutting down``; ``[BrokerServer id=1] …``        ShuttingDown, unless it is failing      2.8; KRaft
``[KafkaServer id=1] shut down completed``; ``[BrokerServer id=1] …``  ShutDown, unless it is failing          2.8; KRaft
``App info kafka.server for 0 unregistered`` of a controller           ShutDown                                KRaft
``Fatal error during … startup…``, ``Exiting Kafka…``, ``Halting …``,  Fatal                                   all
``Shutdown broker because …``, ``Encountered fatal fault: …``
``Terminating due to java.lang.OutOfMemoryError: …`` and other words   Fatal                                   all
of the JVM itself, which have no time and no logger                    (several may follow each other; the
                                                                       first tells the cause)
=====================================================================  ======================================  ==================

A fetch response is told when it arrives; what it does to the log comes after. If the replica has entered another leader epoch since
it asked, the response is void and gives no event. An ISR change that a KRaft leader asked for is told by ``ISR updated …``, or, if
the metadata log tells it of the change before it has its answer, by ``Skipped the become-leader …`` alone. The last line of a
process that was killed may be torn: no pattern here accepts a number that nothing follows, unless the line must end there; give
only whole lines to a reader (``end()`` comes after the last).
"""

from tidemark.nodes.sidecar.lines.dialect import Dialect, dialect
from tidemark.nodes.sidecar.lines.reader import LineReader
from tidemark.nodes.sidecar.lines.selfcheck import disagreement
from tidemark.nodes.sidecar.lines.stamp import wall_us

__all__ = ["Dialect", "LineReader", "dialect", "disagreement", "wall_us"]
