package questions

// The answers to whether a command may run.
const (
	RunIt   = "run it"
	LeaveIt = "do not run it"
)

func leave(string) string { return LeaveIt }

func runs(q *Question) bool { return q.Answer == RunIt }

func runInAdvance(q *Question, _ bool) string {
	if q.Answer == LeaveIt {
		return ""
	}
	return "it would run a command as you, which is answered on a terminal only"
}
