package checkpoints

// Forked is what a run began with that goes on from a question of another run, with another answer.
type Forked struct {
	Run      string `json:"run"` // that other run, its agent and its question
	Agent    string `json:"agent"`
	Question string `json:"question"`
	Session  string `json:"session"` // the conversation, of which the run's own begins with what was said until then
	Before   string `json:"before"`  // the answer that the question had there, for people
	Folder   string `json:"folder"`  // where that agent works
}

// A MomentOf is a work tree at a moment, which another run keeps.
type MomentOf struct {
	Run string `json:"run"`
	ID  string `json:"id"` // of a git.Moment
}

// MomentsFolder is the folder, in that of a run, in which the work at its questions is kept. It goes with the run.
const MomentsFolder = "moments"
