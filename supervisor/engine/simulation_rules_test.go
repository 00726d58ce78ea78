package engine

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/text"
)

// A rule must hold after every step that was saved. It gives "" if it does, else what is wrong.
type rule struct {
	says  string
	check func(w *simulation, before, after supervisor.State, e supervisor.Happened) string
}

var everyRule = slices.Concat(agentRules, treeRules, placeRules, budgetRules)

// agentRules are of one agent, and of the run as a whole.
var agentRules = []rule{
	{"a question is never lost, and goes forward only", questionsGoForward},
	{"an answer changes only by its change, and before its delivery begins", answersStand},
	{"time alone ends no question", timeEndsNothing},
	{"an agent has one launch that may live", oneLaunchLives},
	{"a turn ends by its own result", turnsEnd},
	{"nothing succeeds while something lives or waits", successIsLast},
	{"the run's status is the worst that counts", runIsWorst},
	{"a status says what is so", statusIsSo},
	{"an ended agent stays as it is until a person revives it", theEndIsTheEnd},
	{"a supervised run names its supervisor", supervisorIsNamed},
	{"a supervisor leaves nothing behind", nothingIsLeft},
	{"a report is of what was said, and its check of it", reportsAreChecked},
	{"what is said to an agent has an order", sayingsHaveAnOrder},
	{"what was answered for all alike is not asked again", sameIsAnswered},
	{"what was answered to a script that is lost is not asked when it starts over", lostIsAnswered},
	{"who needs no words for what it assumed has reported", assumedIsReported},
	{"a person alone approves a plan", plansAreApproved},
}

// stepped looks at a step that was saved.
func (w *simulation) stepped(before, after supervisor.State, e supervisor.Happened) {
	w.reached.step(before, after, e)
	w.truth.ended(before, after)
	w.forkBegun(after, e)
	w.truth.unseen(before, after)
	if w.trace != nil {
		w.tellStep(before, after, e)
	}
	for _, r := range everyRule {
		if how := r.check(w, before, after, e); how != "" {
			panic(broken{r.says, how})
		}
	}
	if w.seed%16 == 0 {
		w.isPure(before, e)
		w.isSettled(after, e)
	}
}

func (w *simulation) tellStep(before, after supervisor.State, e supervisor.Happened) {
	w.tell("     %s", describe(e.Event))
	for _, a := range after.AllAgents() {
		if old := before.Agents.Get(a.ID); old == nil || old.Status != a.Status || old.Reason != a.Reason {
			w.tell("          %s is %s (%s)", a.ID, a.Status, a.Reason)
		}
	}
}

func describe(b supervisor.Event) string {
	text := fmt.Sprintf("%T%s", b, text.JSON(b))
	return text[len("supervisor."):min(len(text), 200)]
}

// isPure takes a step again: it changes nothing of what was, and gives the same.
func (w *simulation) isPure(before supervisor.State, e supervisor.Happened) {
	if before.Run == nil {
		return
	}
	var was []byte
	if w.seed%64 == 0 {
		was = text.JSON(before)
	}
	one, err := w.step(before, e)
	two, _ := w.step(before, e)
	w.must("Step changes nothing of the state before", err == nil &&
		(was == nil || bytes.Equal(was, text.JSON(before))), "%T", e.Event)
	w.must("Step gives the same for the same", reflect.DeepEqual(one, two), "%T", e.Event)
}

// plan returns the plan, which is the same each time, and hangs on the records alone.
func (e *simEngine) plan(s supervisor.State, undone []string) effect.Parts {
	defer e.w.enter()()
	parts := e.w.plan(s, undone)
	plan := parts.All()
	anew := e.w.plan(recordsOf(s), undone).All()
	e.w.must("what a state keeps of its plan is what its records make", reflect.DeepEqual(plan, anew), "%v\n%v", plan,
		anew)
	keys := map[string]bool{}
	for _, effect := range plan {
		e.w.must("the keys of a plan are unique", !keys[effect.Key], "%s", effect.Key)
		keys[effect.Key] = true
		a := s.Agents.Get(effect.Agent)
		e.w.must("nothing is planned for an agent that has ended", a == nil || !a.Status.Ended(), "%s", effect.Key)
	}
	return parts
}

// carried looks whether what is in flight is what is planned: the engine looks only through what may have changed.
func (e *simEngine) carried(plan effect.Parts, leaving bool) {
	planned, late := map[string]bool{}, ""
	for _, effect := range plan.All() {
		planned[effect.Key] = true
		if e.real.inflight[effect.Key] == nil && !e.real.heldBack(effect.Do) && !e.real.putOff(effect) {
			late = effect.Key
		}
	}
	defer e.w.enter()()
	e.w.must("what is planned is begun", late == "", "%s", late)
	for key, u := range e.real.inflight {
		e.w.must("the engine knows what is planned no more", u.planned == (planned[key] && u.of != nil), "%s", key)
		if !u.effect.Do.Wait() && (u.planned || u.effect.Do != effect.Run) {
			e.w.must("what somebody waits for is hastened", u.endingSoon || e.real.reasonToEnd(u, leaving) == nil, "%s", key)
		}
	}
}

// recordsOf is a state without what it keeps beside its records.
func recordsOf(s supervisor.State) supervisor.State {
	return supervisor.State{Records: records.Records{Run: s.Run, Agents: s.Agents, Launches: s.Launches,
		Questions: s.Questions, Deliveries: s.Deliveries, Taken: s.Taken}, Config: s.Config}
}

// sameRecords reports whether the records of two states say the same. Most of them are the same ones.
func sameRecords(a, b *supervisor.State) bool {
	return a.Taken == b.Taken && same(a.Run, b.Run) && reflect.DeepEqual(&a.Config, &b.Config) &&
		sameTable(a.Agents, b.Agents, same) && sameTable(a.Questions, b.Questions, same) &&
		sameTable(a.Deliveries, b.Deliveries, same) &&
		sameTable(a.Launches, b.Launches, func(a, b []*supervisor.Launch) bool { return slices.EqualFunc(a, b, same) })
}

func sameTable[V any](a, b table.Table[V], same func(a, b V) bool) bool {
	for range a.Since(b, same) {
		return false
	}
	return a.Len() == b.Len()
}

func same[T any](a, b *T) bool { return a == b || reflect.DeepEqual(a, b) }

func questionsGoForward(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	for id, old := range before.Questions.All() {
		q := after.Questions.Get(id)
		if q == nil {
			return id + " is gone"
		}
		_, ended := e.Event.(supervisor.Ended)
		_, unpacked := e.Event.(supervisor.Unpacked)
		_, elsewhere := e.Event.(supervisor.DecidedByHook)
		switch from, to := old.State, q.State; {
		case from == to, from == checkpoints.QuestionOpen:
		case from == checkpoints.QuestionAnswered && to == checkpoints.QuestionDelivered:
		case from == checkpoints.QuestionDelivered && to == checkpoints.QuestionAnswered && ended: // doubt
		case q.AnsweredBy == supervisor.ByHook && old.AnsweredBy != q.AnsweredBy && to == checkpoints.QuestionDelivered:
		case from == checkpoints.QuestionAnswered && to == checkpoints.QuestionWithdrawn && elsewhere:
		case unpacked && questions.Grants(old) && to == checkpoints.QuestionOpen: // asked anew
		case unpacked && old.Kind == questions.AskCommand: // nobody wants it any more
		default:
			return fmt.Sprintf("%s goes from %s to %s by %T", id, from, to, e.Event)
		}
	}
	return ""
}

func answersStand(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	for id, old := range before.Questions.All() {
		q := after.Questions.Get(id)
		first := old.State == checkpoints.QuestionWithdrawn && old.AnsweredAt == nil // accepted before that was known
		hook := q.AnsweredBy == supervisor.ByHook && old.AnsweredBy != supervisor.ByHook
		if first || hook || old.State == checkpoints.QuestionOpen || q.Answer == old.Answer && q.Skipped == old.Skipped {
			continue
		}
		if _, unpacked := e.Event.(supervisor.Unpacked); unpacked && questions.Grants(old) && q.IsOpen() {
			continue
		}
		noted := false
		switch b := e.Event.(type) {
		case supervisor.InboxRead:
			noted = isChanged(b.Notes, old)
		case supervisor.Opened:
			noted = isChanged(b.Notes, old)
		}
		if !noted || old.Delivering {
			return fmt.Sprintf("%s: %q becomes %q by %T", id, old.Answer, q.Answer, e.Event)
		}
	}
	return ""
}

// isChanged reports whether a question gets another answer: a change, or its own, where it had that of all alike.
func isChanged(notes []supervisor.InboxEntry, q *supervisor.Question) bool {
	return slices.ContainsFunc(notes, func(n supervisor.InboxEntry) bool {
		return n.Question == q.ID && (n.Kind == supervisor.EntryChange || n.Kind == supervisor.EntryAnswer && q.Like != "")
	})
}

func timeEndsNothing(w *simulation, before, after supervisor.State, e supervisor.Happened) string {
	for id, old := range before.Questions.All() {
		q := after.Questions.Get(id)
		if old.State != checkpoints.QuestionOpen || q.State == checkpoints.QuestionOpen || q.Kind == questions.AskBudget ||
			q.Kind == questions.AskOverrun && after.Agents.Get(q.Agent).Status.Ended() { // it was not waited for
			continue
		}
		if _, unpacked := e.Event.(supervisor.Unpacked); unpacked && q.Kind == questions.AskCommand && old.Asker != "" {
			continue // its stop has another answer, or none any more
		}
		if q.State == checkpoints.QuestionAnswered && q.Like != "" && q.Kind != old.Kind {
			continue // its script is gone: it is a question as others are now, and a person has answered all like it
		}
		switch b := e.Event.(type) {
		case supervisor.AskCancelled:
			if !w.truth.withdrawn[b.Request] {
				return fmt.Sprintf("%s is %s, and nobody has withdrawn %s", id, q.State, b.Request)
			}
		case supervisor.HoldEnded, supervisor.RetryDue, supervisor.NotificationSent, supervisor.Started, supervisor.TurnBegun:
			return fmt.Sprintf("%s is %s by %T", id, q.State, e.Event)
		case supervisor.InboxRead, supervisor.Opened, supervisor.FileGone:
		default:
			if a := after.Agents.Get(q.Agent); q.State == checkpoints.QuestionWithdrawn && a.Fault == "" && a.StopWanted == "" {
				return fmt.Sprintf("%s is withdrawn by %T, and its agent is %s", id, e.Event, a.Status)
			}
		}
	}
	return ""
}

func turnsEnd(w *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if b, ok := e.Event.(supervisor.TurnEnded); ok {
		name := processName(b.Agent, b.Launch)
		if n := after.Launches.Get(b.Agent)[b.Launch-1].Turns; n > w.truth.results[name] {
			return fmt.Sprintf("%d turns of %s, which has told the end of %d", n, name, w.truth.results[name])
		}
	}
	return ""
}

func oneLaunchLives(w *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	for agent, ls := range after.Launches.All() {
		live := 0
		for i, l := range ls {
			if l.N != i+1 {
				return fmt.Sprintf("launch %d of %s stands at %d", l.N, agent, i)
			}
			if !l.Phase.Ended() {
				live++
			}
		}
		if live > 1 {
			return fmt.Sprintf("%d of %s", live, agent)
		}
		if live == 0 && w.alive(agent) > 0 {
			return agent + " has a process, and no launch for it"
		}
	}
	return ""
}

func successIsLast(w *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	for id, a := range after.Agents.All() {
		if a.Status != checkpoints.Succeeded && a.Status != checkpoints.Partial {
			continue
		}
		switch {
		case w.alive(id) > 0:
			return "its process lives"
		case after.Live(id) != nil:
			return "its launch lives"
		case len(after.Open(id)) > 0:
			return "a question is open"
		case len(after.Assuming(id)) > 0:
			return "what it has assumed is open"
		case len(after.FindDeliveries(id, undelivered)) > 0, len(a.Outbox) > 0:
			return "something is still to be said"
		case !a.Group && (a.Report == nil || !a.Report.Checked):
			return "it has no report that was checked"
		}
		for q := range after.Questions.Values() {
			if q.Agent == id && q.State == checkpoints.QuestionAnswered {
				return "the answer of " + q.ID + " is not delivered"
			}
		}
	}
	return ""
}

func runIsWorst(_ *simulation, _, after supervisor.State, e supervisor.Happened) string {
	root, worst, ended, decides := after.Agents.Get(after.Run.Root), 0, true, after.Agents.Get(after.Run.Root)
	bad := []supervisor.Status{
		checkpoints.Succeeded, checkpoints.Partial, checkpoints.OverBudget, checkpoints.Stopped,
		checkpoints.Unreported, checkpoints.Failed,
	}
	for a := range after.Agents.Values() {
		ended = ended && a.Status.Ended()
		counts := true
		for up := a; up != nil; up = after.Agents.Get(up.Parent) {
			counts = counts && up.ContinuedBy == "" && (up.Delegated == nil || up.Delegated.Independence != checkpoints.Optional)
		}
		up := after.Agents.Get(a.Parent)
		follows := a.Status == checkpoints.Stopped && up != nil && a.StopWanted == "the end of "+up.ID &&
			slices.Index(bad, up.Status) >= 2
		if counts && a.Status.Ended() && !follows {
			status := a.Status
			if a.Fault == string(procs.OverBudget) && status == checkpoints.Failed {
				status = checkpoints.OverBudget // by its exit code
			}
			if rank := slices.Index(bad, status); rank > worst {
				worst, decides = rank, a
			}
		}
	}
	want := after.Run.Status
	switch {
	case !root.Status.Ended():
		if want != root.Status && !slices.ContainsFunc(after.AllAgents(), func(a *supervisor.Agent) bool {
			return a.Status == want && (want == checkpoints.Parked || want == checkpoints.Waiting ||
				want == checkpoints.OverBudget)
		}) {
			want = root.Status
		}
	case root.Status.Ended() && !ended:
		want = checkpoints.Stopping
	case root.Status.Ended():
		want = decides.Status
	}
	_, created := e.Event.(supervisor.Created)
	settled := !created && !reserved(e.Event) && (root.Status.Ended() || worst == 0)
	if settled && after.Run.Status != want {
		return fmt.Sprintf("the run is %s, its root %s, the worst that counts %s", after.Run.Status, root.Status, bad[worst])
	}
	if over := after.Run.EndedAt != nil; !created && !reserved(e.Event) && over && !ended {
		return "the run has ended before all its agents"
	}
	return ""
}

func statusIsSo(w *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if _, created := e.Event.(supervisor.Created); created {
		return ""
	}
	for id, a := range after.Agents.All() {
		l, open, assumed := after.Live(id), len(after.Open(id)), len(after.Assuming(id))
		if a.Group || a.Tidying || a.Placing {
			continue // without a process
		}
		ending := a.Fault != "" || a.StopWanted != "" // concluded once the transcript is read; until then it is as it was
		wrong := false
		switch a.Status {
		case checkpoints.Starting:
			wrong = l == nil && !ending
		case checkpoints.Blocked:
			wrong = l == nil && !ending && (a.Report == nil || a.Report.Checked) && !w.waitsForOthers(after, a)
		case checkpoints.Running, checkpoints.Stopping:
			checks := a.Report != nil && !a.Report.Checked ||
				slices.ContainsFunc(a.Parts, func(p checkpoints.PartReport) bool { return !p.Checked })
			wrong = l == nil && !ending && !checks
		case checkpoints.Waiting:
			wrong = l == nil && !ending || l != nil && open+assumed == 0 && l.End == ""
		case checkpoints.Parked:
			wrong = l != nil || open+assumed == 0 && !ending
		case checkpoints.Interrupted:
			wrong = l != nil || open > 0 && !ending
		}
		if wrong {
			return fmt.Sprintf("%s is %s (%s), with %d open questions and a live launch: %v", id, a.Status,
				a.Reason, open, l != nil)
		}
		if a.Status.Ended() != (a.EndedAt != nil) || a.Status.Ended() && l != nil {
			return fmt.Sprintf("%s is %s, ended at %v", id, a.Status, a.EndedAt)
		}
	}
	return ""
}

func theEndIsTheEnd(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	if b, ok := e.Event.(supervisor.Opened); ok && (b.Revive || b.Failed) {
		return ""
	}
	for id, old := range before.Agents.All() {
		if a := after.Agents.Get(id); old.Status.Ended() && a.Status != old.Status {
			return fmt.Sprintf("%s was %s and is %s by %T", id, old.Status, a.Status, e.Event)
		}
	}
	return ""
}

func supervisorIsNamed(w *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if _, created := e.Event.(supervisor.Created); created || w.engine == nil {
		return ""
	}
	if (after.Run.Left == "") != (after.Run.PID == w.engine.pid) {
		return fmt.Sprintf("pid %d, left %q; the supervisor is %d", after.Run.PID, after.Run.Left, w.engine.pid)
	}
	return ""
}

func nothingIsLeft(w *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if _, left := e.Event.(supervisor.Left); !left || after.Run.Left == "" {
		return ""
	}
	for id := range after.Agents.All() {
		if after.Live(id) != nil || w.alive(id) > 0 {
			return "a process of " + id
		}
	}
	for _, q := range after.FindQuestions((*checkpoints.Question).IsOpen) {
		id := q.ID
		// One that came while it left is taken with the next resume, as one that comes a moment later.
		if after.Run.Left == records.LeavingParked && questions.Posted(q) && w.folders.answers[id] != "" &&
			!w.folders.late[id] {
			return "the answer to " + id + " in its file"
		}
	}
	if n := w.disk.unread(after.Taken); len(n) > 0 {
		return fmt.Sprintf("%d notes in the inbox", len(n))
	}
	for id, a := range after.Agents.All() {
		if after.Run.Left == records.LeavingEnded && !a.Status.Ended() {
			return fmt.Sprintf("it has left (%s) %s, which is %s", after.Run.Left, id, a.Status)
		}
	}
	if after.Run.Left == records.LeavingParked && len(after.FindQuestions((*checkpoints.Question).IsOpen)) == 0 {
		return "it has left a parked run in which nobody is asked"
	}
	return ""
}

func reportsAreChecked(_ *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	for id, a := range after.Agents.All() {
		if r := a.Report; r != nil && !r.Checked && len(r.Missing) > 0 {
			return id + " misses what nobody has looked for"
		}
		if a.Status == checkpoints.Succeeded && a.Report != nil && len(a.Report.Missing) > 0 {
			return id + " succeeded without what it reports"
		}
	}
	return ""
}

func sayingsHaveAnOrder(_ *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	numbers := map[int]string{}
	for id, v := range after.Deliveries.All() {
		if other, taken := numbers[v.Seq]; taken {
			return fmt.Sprintf("deliveries %s and %s are both number %d", after.Deliveries.Get(other).Key, v.Key, v.Seq)
		}
		numbers[v.Seq] = id
	}
	return ""
}

func sameIsAnswered(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, q := range after.Questions.All() {
		if q.State != checkpoints.QuestionOpen || before.Questions.Get(id) != nil {
			continue
		}
		for o := range before.Questions.Values() {
			same := o.Kind == q.Kind && o.Text == q.Text && o.Header == q.Header && o.Validate == q.Validate &&
				o.Optional == q.Optional
			if o.ForAllLike && same && q.Kind == questions.AskClarification && len(q.Options) == 0 {
				return fmt.Sprintf("%s is asked, and %s is answered %q", id, o.ID, o.Answer)
			}
		}
	}
	return ""
}

// lostIsAnswered looks at what a script asks by a file: had an earlier one of its agent asked the same, and was lost
// before it took the answer that a person gave, this one has it.
func lostIsAnswered(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, q := range after.Questions.All() {
		if q.State != checkpoints.QuestionOpen || before.Questions.Get(id) != nil || !q.WaitsForFile() {
			continue
		}
		for o := range before.Questions.Values() {
			if o.Agent == q.Agent && o.Text == q.Text && o.File != nil && o.File.Lost && o.File.Drop == "" &&
				o.State == checkpoints.QuestionAnswered && !o.Delivering {
				return fmt.Sprintf("%s is asked, and %s is answered %q", id, o.ID, o.Answer)
			}
		}
	}
	return ""
}
