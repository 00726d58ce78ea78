package supervisor

import "fmt"

// concerns is the specification of an agent's status: of all that may be so of an agent at one time, what stands first
// here decides what it does. The tables in status_order_test.go hold those that decide against all below them. Those
// that decide nothing stand where what they do is due; plans and what is told go in the same order.
var concerns = []concern{
	interruptedSubagents, // are told of with the next launch
	questionFiles,        // which no script polls for any more
	workplace,            // is made ready, or looked through
	receipts,             // may be missing: the transcript is read before anything is concluded, or said again
	stops,
	failures,
	survey,    // of the last launch, before another
	interrupt, // ends its process
	gate,      // is answered, whatever ends
	ending,    // its process is on its way out
	starting,  // its process is not there yet
	spending,  // ends its process
	singleTurn,
	awaitedWork, // is told in the call that waits for it
	steering,    // is said into its turn
	turn,
	spokenTo,
	turnDue,
	asking,
	preparation, // of answers
	moments,     // of the work, at questions
	outbox,
	background,
	silences,     // of a process at work
	predecessors, // that it comes after
	children,
	parts,      // of its work: the reports of subagents
	assuming,   // with nothing else to do: what it has assumed is open
	checking,   // its report
	missing,    // deliverables
	unreported, // though its turn has ended
	done,
	budget,   // it may not go on
	overruns, // hold nothing back: it works on
	delegations,
	leaving, // the supervisor: nothing is begun
	limits,  // of its account
	retries, // after a failure that passes
	pressure,
	slots,
}

// reconcileAgent concludes the status of an agent from the facts, and what is begun for it.
func (d *transition) reconcileAgent(id string) {
	d.collectAnswers(id)
	a := d.agent(id)
	switch live := d.Live(id) != nil; {
	case a.Group:
		d.conclude(subject{Agent: a}, func(c *concern) say { return c.group })
	case live:
		of := subject{Agent: a, launch: d.last(id), open: d.Open(id)}
		if by := d.conclude(of, func(c *concern) say { return c.live }); !by.holds && len(of.open) == 0 {
			a.HoldUntil = nil
		}
		d.sayIfSilent(a)
	default:
		of := subject{Agent: a, launch: d.Launch(id), open: d.Open(id)}
		if by := d.conclude(of, func(c *concern) say { return c.idle }); !by.queues {
			a.QueuedAt = nil
		}
	}
}

// conclude has an agent be what the first concern makes of it that has a say, and returns that.
func (d *transition) conclude(of subject, side func(*concern) say) *concern {
	for i := range concerns {
		if says := side(&concerns[i]); says != nil && says(d, of) {
			return &concerns[i]
		}
	}
	panic(fmt.Sprintf("supervisor: nothing says what becomes of agent %s", of.ID))
}

// collectAnswers does what answers have decided, and has the others said.
func (d *transition) collectAnswers(agent string) {
	for _, c := range concerns {
		if c.decided != nil {
			c.decided(d, agent)
		}
	}
	d.sayAnswers(agent)
}
