-------------------------- MODULE buzzer_semaphore --------------------------
(***************************************************************************)
(* The semaphore of primitives/sync: strictly first come, first served.    *)
(* A client is woken in one action and resumes in another, and can be      *)
(* cancelled between the two.  One step of the code is a sequence of       *)
(* actions: a release is Release and some Wakes; the resume of a woken     *)
(* client is Resume or GiveBack, and some Wakes.                           *)
(*                                                                         *)
(* spec_buzzer.c is this module as a table, under the same names, and      *)
(* `buzzer spec buzzer` enumerates it.  A lock is Permits = 1.             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Permits,  \* how many there are, from 1
    Clients   \* a finite set

ASSUME PermitsAreSome == Permits \in Nat /\ Permits >= 1
ASSUME ClientsAreFinite == IsFiniteSet(Clients)

VARIABLES
    level,    \* free permits, those promised to woken clients included
    clients,  \* the status of each client
    line      \* the clients that wait, in order of arrival

vars == <<level, clients, line>>

Statuses == {"idle", "waiting", "woken", "cancelled", "doomed", "holding"}

-----------------------------------------------------------------------------

With(status) == {c \in Clients : clients[c] = status}

W == With("waiting")

\* Woken and not resumed: each was promised a permit, even if it was cancelled since.
R == With("woken") \cup With("doomed")

C == With("cancelled")

Locked == W # {} \/ R # {} \/ level = 0

Spare == level > Cardinality(R)

Becomes(c, status) == clients' = [clients EXCEPT ![c] = status]

LeavesLine(c) == line' = SelectSeq(line, LAMBDA other : other # c)

-----------------------------------------------------------------------------

Init ==
    /\ level = Permits
    /\ clients = [c \in Clients |-> "idle"]
    /\ line = <<>>

\* A newcomer is served at once only if no client is ahead, not even a woken one.
Acquire(c) ==
    /\ clients[c] = "idle"
    /\ level > 0
    /\ W = {}
    /\ R = {}
    /\ level' = level - 1
    /\ Becomes(c, "holding")
    /\ UNCHANGED line

Enqueue(c) ==
    /\ clients[c] = "idle"
    /\ Locked
    /\ Becomes(c, "waiting")
    /\ line' = Append(line, c)
    /\ UNCHANGED level

Release(c) ==
    /\ clients[c] = "holding"
    /\ level' = level + 1
    /\ Becomes(c, "idle")
    /\ UNCHANGED line

\* The permit is promised here: the level stays, and counts it, until Resume.
Wake(c) ==
    /\ line # <<>>
    /\ c = Head(line)
    /\ Spare
    /\ Becomes(c, "woken")
    /\ LeavesLine(c)
    /\ UNCHANGED level

Resume(c) ==
    /\ clients[c] = "woken"
    /\ level' = level - 1
    /\ Becomes(c, "holding")
    /\ UNCHANGED line

CancelWaiting(c) ==
    /\ clients[c] = "waiting"
    /\ Becomes(c, "cancelled")
    /\ LeavesLine(c)
    /\ UNCHANGED level

CancelWoken(c) ==
    /\ clients[c] = "woken"
    /\ Becomes(c, "doomed")
    /\ UNCHANGED <<level, line>>

\* The promise lapses when the client learns that it was cancelled.
GiveBack(c) ==
    /\ clients[c] = "doomed"
    /\ Becomes(c, "idle")
    /\ UNCHANGED <<level, line>>

Remove(c) ==
    /\ clients[c] = "cancelled"
    /\ Becomes(c, "idle")
    /\ UNCHANGED <<level, line>>

Next ==
    \E c \in Clients :
        \/ Acquire(c)
        \/ Enqueue(c)
        \/ Release(c)
        \/ Wake(c)
        \/ Resume(c)
        \/ CancelWaiting(c)
        \/ CancelWoken(c)
        \/ GiveBack(c)
        \/ Remove(c)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeInvariant ==
    /\ level \in 0..Permits
    /\ clients \in [Clients -> Statuses]

\* The line has each waiting client once, and no others.
Partition ==
    /\ {line[i] : i \in 1..Len(line)} = W
    /\ Len(line) = Cardinality(W)

LevelBound == level >= Cardinality(R)

Conservation == level + Cardinality(With("holding")) = Permits

Fifo == \A c \in Clients : ENABLED Wake(c) => line # <<>> /\ c = Head(line)

NoPassing == (W \cup R # {}) => \A c \in Clients : ~ENABLED Acquire(c)

\* A newcomer is either served or queued.
OneAnswer ==
    \A c \in With("idle") : (ENABLED Acquire(c)) # (ENABLED Enqueue(c))

NoLostWakeup ==
    (W # {} /\ Spare) => line # <<>> /\ ENABLED Wake(Head(line))

NoDeadlock ==
    \/ With("idle") = Clients
    \/ \E c \in Clients :
        \/ ENABLED Acquire(c)
        \/ ENABLED Enqueue(c)
        \/ ENABLED Release(c)
        \/ ENABLED Wake(c)
        \/ ENABLED Resume(c)
        \/ ENABLED GiveBack(c)
        \/ ENABLED Remove(c)

=============================================================================
