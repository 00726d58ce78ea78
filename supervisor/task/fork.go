package task

import "claude-supervise/checkpoints"

// A Session is what a run begins with that takes up a conversation which nobody supervised, and which has ended while
// it asked: the questions of its last call.
type Session struct {
	ID        string                 // of the conversation, which goes on as it is
	Version   string                 // the release of claude that asked
	Questions []checkpoints.Question // in their order; open
}

// A Fork is what a run begins with that goes on from a question of another run, with another answer.
type Fork struct {
	checkpoints.Forked
	Moment    string                 // the work as it was then, as that run keeps it
	Version   string                 // the release of claude that asked
	Questions []checkpoints.Question // of the call, in their order
	Asked     int                    // which of them has another answer
	Answer    string                 // it, and who gives it
	By        string
}
