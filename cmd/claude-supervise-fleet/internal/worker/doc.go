// Package worker supervises runs of a fleet on one machine: it drives claude-supervise, one process for each run, and
// says to the run's workflow (package flow) what becomes of it. What a run is has package supervisor, what a snapshot
// is package pack.
//
// What a worker keeps lies in a folder of its own, which one process at a time may use:
//
//	DIR/lock                  that process holds it
//	DIR/repos/HASH.git        mirrors of the repositories that runs work in
//	DIR/runs/RUN.EPOCH/       a run that this worker has, for as long as it has it; one that is left over from a worker
//	                          that died is ended and removed when the next one starts
//	    work/                 where the agents work
//	    state/                the state of claude-supervise for this run alone ($XDG_STATE_HOME of its process)
//	    snapshots/RUN/        its snapshots, its epoch and its lease
//	    from/RUN/             the snapshots that it goes on from
//	DIR/answers/              what was answered on this machine, until the workflows of the runs have it (apart.go)
//	DIR/kept/RUN.EPOCH/       what agents have written that is in no snapshot, of a run that this worker has left: a
//	                          person removes it
//
// In the blob store:
//
//	runs/RUN/EPOCH/NNNNNN.tar.gz.age    a snapshot, sealed with the fleet's key under this name
//	runs/RUN/EPOCH/show.json.age        what show and logs say of the run, as it was when this epoch parked it, ended
//	runs/RUN/EPOCH/log.jsonl.age        it or gave it back; sealed likewise
//
// Nobody else writes below one EPOCH, so nothing there is ever replaced. Whoever goes on with a run takes the newest
// snapshot of the newest epoch that has one that is whole.
package worker
