package pack

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// checkRecords tells why the records of a pack file cannot be those of a run: what is read later without being asked
// whether it is there has to be there, and what is counted cannot be negative.
func checkRecords(s supervisor.State) error {
	for _, check := range []func(supervisor.State) error{checkAgents, checkQuestions, checkDeliveries} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// maxCount bounds what is counted, each by itself, so that no sum of it overflows. Times are in nanoseconds.
const maxCount = 1 << 44

func checkAgents(s supervisor.State) error {
	for id, a := range s.Agents.All() {
		if (a.Parent == "") != (id == s.Run.Root) || a.Parent != "" &&
			(a.Delegated == nil || a.Seq <= s.Agents.Get(a.Parent).Seq) {
			return notPack("agent %s is missing in the tree of the run", id)
		}
		if a.Exceeds != "" && (s.Agents.Get(a.Exceeds) == nil || s.Agents.Get(a.Exceeds).Budget == nil) {
			return notPack("agent %s exceeds the budget of none", id)
		}
		if a.Launches != len(s.Launches.Get(id)) {
			return notPack("agent %s was launched %d times, and %d launches are there", id, a.Launches, len(s.Launches.Get(id)))
		}
		for i, l := range s.Launches.Get(id) {
			if l.N != i+1 {
				return notPack("launch %d of agent %s is missing", i+1, id)
			}
			if err := counts(*l); err != nil {
				return err
			}
		}
		if err := counts(*a); err != nil {
			return err
		}
	}
	return nil
}

// counts tells which number of a record cannot be what was counted.
func counts(record any) error {
	v := reflect.ValueOf(record)
	for _, field := range reflect.VisibleFields(v.Type()) { // those of embedded records, too
		name, n := field.Name, 0.0
		switch f := reflect.Indirect(v.FieldByIndex(field.Index)); f.Kind() {
		case reflect.Int, reflect.Int64:
			n = float64(f.Int())
			if strings.HasSuffix(f.Type().String(), "Duration") {
				n /= 1e6
			}
		case reflect.Float64:
			n = f.Float()
		case reflect.Struct:
			switch f.Interface().(type) {
			case checkpoints.Budget, checkpoints.Used:
				if err := counts(f.Interface()); err != nil {
					return err
				}
			}
		}
		if n < 0 || n > maxCount {
			return notPack("%s is %v", name, n)
		}
	}
	return nil
}

func checkQuestions(s supervisor.State) error {
	for id, q := range s.Questions.All() {
		var sig signals.Signal
		first := s.Questions.Get(q.Group)
		switch {
		case first == nil || first.Agent != q.Agent || first.Group != q.Group || first.Index != 0 || q.Index < 0:
			return notPack("question %s belongs to no group", id)
		case len(q.Signal) > 0 && json.Unmarshal(q.Signal, &sig) != nil:
			return notPack("the signal of question %s cannot be read", id)
		case q.Child != "" && (!checkpoints.PlainID(q.Child) || !strings.HasPrefix(q.Child, checkpoints.AgentPrefix)):
			return notPack("question %s is about the agent %.60q", id, q.Child)
		case questions.KindOf(q.Kind).InCall && q.Tool == nil:
			return notPack("question %s asks in a call, and not in which", id)
		case questions.OfBudget(q) && (q.Exceeded == nil || first != q):
			return notPack("question %s is about a budget, and not about which", id)
		case q.State != checkpoints.QuestionOpen && q.State != checkpoints.QuestionWithdrawn && q.AnsweredAt == nil:
			return notPack("question %s is answered, and not when", id)
		case !slices.Contains(questions.All(), q.Kind):
			return notPack("question %s is of the kind %.60q", id, q.Kind)
		}
	}
	return nil
}

func checkDeliveries(s supervisor.State) error {
	for uuid, v := range s.Deliveries.All() {
		for _, group := range v.Groups {
			if first := s.Questions.Get(group); first == nil || first.Agent != v.Agent {
				return notPack("delivery %s answers the question %.60q, which is not its agent's", uuid, group)
			}
		}
		if v.File != "" && len(v.Groups) == 0 {
			return notPack("delivery %s is of a file, and answers nothing", uuid)
		}
		if v.Launch < 0 || v.Turn < 0 || v.Seq < 0 {
			return notPack("delivery %s is to no launch", uuid)
		}
	}
	return nil
}

// withheld returns the inbox of a pack file as it counts here, and all that the file grants and was not taken along.
func withheld(u *unpacking, before supervisor.State) ([]checkpoints.InboxEntry, []Withheld) {
	all := u.less
	for _, q := range before.FindQuestions(func(*supervisor.Question) bool { return true }) {
		is := u.state.Questions.Get(q.ID)
		kind := questions.KindOf(q.Kind)
		switch word, _ := questions.Decision(q.Answer); {
		case q.Revoked != "" || !questions.Grants(q) || is.Revoked == "" && !is.IsOpen():
		case ask.GrantsRule(q) && u.Vouched: // it is given again
		case ask.GrantsRule(q):
			all = append(all, Withheld{What: "the rule " + ask.RuleOf(q).Rule,
				Again: "--allow " + ShellLine([]string{ask.RuleOf(q).Rule})})
		case is.IsOpen():
			all = append(all, Withheld{What: fmt.Sprintf("the answer to %s (%s), which is asked anew: %s",
				q.ID, q.Kind, text.Line(q.Answer, text.MaxLine))})
		case kind.Ruled && word == supervisor.Allow && !q.GrantSpent, kind.Runs && q.Ran == nil:
			all = append(all, Withheld{What: fmt.Sprintf("the answer to %s (%s): %s", q.ID, q.Kind,
				text.Line(q.Answer, text.MaxLine))})
		}
		if q.ForAllLike && !u.Vouched {
			all = append(all, Withheld{What: fmt.Sprintf("the answer to %s, for all questions like it: %s",
				q.ID, text.Line(q.Answer, text.MaxLine))})
		}
	}
	notes, more := HeldNotes(u.archive.run.Notes, u.archive.run.Taken, u.state, u.Vouched)
	return notes, append(all, more...)
}
