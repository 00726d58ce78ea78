// Package flow is the workflow of one run on a fleet: it has the run when no worker does. It decides who goes on with
// the run, and keeps what was answered. It does nothing itself: the activity Supervise, on a worker, drives
// claude-supervise.
//
// What fails, and what becomes of the run:
//
//	before the worker has the run      the activity waits in the queue of its labels; so it does where nobody has them
//	the worker cannot begin            it says why: for good (a repository that is not there, a bad flag), and the run
//	                                   fails; or for now (disk, blob store), and it is tried again, later and anywhere
//	the worker is not heard of         after Task.Lease the server gives the activity up; the next epoch begins on
//	                                   another worker from the last snapshot in the blob store. The old worker's lease
//	                                   ended before that by a margin: its supervisor has delivered nothing since. What
//	                                   was done after that snapshot, at most one turn of an agent, is done again
//	... before the first snapshot      the run begins anew
//	... between question and snapshot  nobody knows of the question yet: a worker tells of one when a snapshot that has
//	                                   it is in the blob store. One is taken at the end of a turn, when an agent waits,
//	                                   and when a script asks that polls in its turn, which would not end before
//	... with an answer acknowledged    the answer is in the workflow, and every attempt is given all of them: it gives
//	                                   those whose questions are open in its snapshot
//	the worker leaves (SIGTERM)        it parks the run, uploads the snapshot and gives it back: the next epoch begins
//	the server is down                 workers keep what they have to say, their leases end, running turns end. Questions
//	                                   are on the worker and answers to them wait there
//	the run parks                      the activity ends; nothing but this workflow has the run. An answer begins the
//	                                   next epoch, on any worker
//	a worker of an older epoch speaks  it is not listened to
//	its history gets long              the worker gives it back; it goes on in a new history (renewal.go)
//
// An answer is a workflow update: its validator lets the first in, and tells others whose it was. That it is
// acknowledged means that it is in the workflow's history. An answer to a question that a worker holds goes to that
// worker at once, by the queue that only it reads; it is tried until the worker has said yes or no, or has lost the
// run.
//
// Workflow code is replayed against old histories: a run that is parked for months is decided about by the release of
// the day, and while a fleet is upgraded two releases decide about the same runs. A change of what the workflow does,
// or in which order, needs workflow.GetVersion, under a name that stays for ever. Nothing is decided by what a release
// may show more of a run (told.go). testdata has the histories of each released version, a folder each, which a test
// replays; make fleet-histories VERSION=V records those of a release, and make fleet-upgrade OLDER=COMMIT replaces the
// workers of an older build one by one. What the server limits, and what a fleet does there, is in LIMITS.md.
package flow
