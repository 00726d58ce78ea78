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
//	  looked                              empty; when it was modified says when the person looked last (package service)
//	  runs/RUN/                           0700
//	    owner.lock                        flock, exclusive: its holder supervises RUN
//	    AGENT.jsonl                       what the agent printed (written by the supervisor)
//	    AGENT.checkpoint.json             its checkpoint, replaced whole
//	    AGENT.FINGERPRINT.kept            the copy of a checkpoint of the agent's own, byte for byte
//	$XDG_RUNTIME_DIR/claude-supervise/    0700, ours, no symlink; else /tmp/claude-supervise-UID/
//	  RUN.sock                            the wake-up socket: a datagram means "look at the inbox"; where another user
//	                                      has taken the folder's name, it is beside state.db
//
// # Who may write what
//
//	table        written by                         how
//	runs         the owner of the run               Commit; whole runs: Import, Remove
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
// # What survives what
//
// A Commit is on the disk when it returns: one transaction, synchronous=FULL (on macOS a flush of the drive, too). So
// are notes, answers, an import, a removal, and the database itself once Open returns. After a crash or a power cut,
// what was acknowledged is there, and what was under way is there whole or not at all. A Change that is Lazy
// acknowledges nothing: a crash leaves it, a power cut may undo it, unless something came after it that was
// acknowledged, which brought to the disk all that came before.
//
// An error of a write means that nobody sees anything of it, and that it may be made again as it is: on the same store,
// too, once the disk has room or works again. Only if the program ends before that, after a disk that failed in the
// middle of a sync, may it turn out to have been saved: whoever loads the run finds out.
//
// A database that is newer than this program or damaged is refused and left as it is, to the byte, with nothing put
// beside it, as far as the file tells; a log that lies beside it already may get its index. Empty or cut files are
// damage, never a fresh start. What is garbled within a record without being unreadable, and the log of another
// database put beside ours, cannot be noticed: nothing in the format tells.
//
// # Moving and forgetting a run
//
// Export reads all there is of a run, as of one instant; Import puts it into another database, whole or not at all, and
// trusts nothing in it. While a run's record says that it was packed, nothing can be left for it here, so that no
// answer is used on two machines. Remove forgets a run that has ended. Its folder is the caller's to move or remove;
// RunDirs finds those that no record knows.
package checkpoints
