// Package checkpoints keeps what must last: the records of every run, the inbox that other processes write to, the
// checkpoint files of agents, and the lock that says who supervises a run.
//
// Use it to save a decision before acting on it, to load a run again after a crash, to leave an answer for a run of
// another process, and to list what there is. It decides nothing: which transition is legal, what to launch and whom to
// tell is the supervisor's. It starts no process and reads no agent output.
//
// # Layout on disk
//
//	$XDG_STATE_HOME/claude-supervise/     0700; default ~/.local/state/claude-supervise; its own flock queues the writers
//	  state.db                            0600; SQLite in WAL mode (state.db-wal and state.db-shm beside it while in use)
//	  state.db.new                        only while the first state.db is being made
//	  runs/RUN/                           0700
//	    owner.lock                        flock, exclusive: its holder supervises RUN
//	    AGENT.jsonl                       what the agent printed (written by the supervisor)
//	    AGENT.checkpoint.json             its checkpoint, replaced whole
//	$XDG_RUNTIME_DIR/claude-supervise/    0700, ours, no symlink; else /tmp/claude-supervise-UID/
//	  RUN.sock                            the bell: a datagram means "look at the inbox"
//
// # Who may write what
//
//	table        written by                         how
//	runs         the owner of the run               Commit
//	agents       the owner of the run               Commit
//	launches     the owner of the run               Commit
//	questions    the owner of the run               Commit
//	deliveries   the owner of the run               Commit
//	events       the owner of the run               Commit, append only, numbered without gaps
//	inbox        any process of this user           Leave, Answer, ChangeAnswer; append only
//
// The owner is whoever holds the [Owner] of the run. What it has taken from the inbox is a mark in its own row of runs,
// so an inbox row never changes. Readers see committed states only, and never hold up a writer.
//
// A Commit is on the disk when it returns: one transaction, synchronous=FULL. A database that is newer than this program
// or damaged is refused and left as it is.
package checkpoints
