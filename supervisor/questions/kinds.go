package questions

import (
	"cmp"
	"maps"
	"slices"

	"claude-supervise/checkpoints"
)

// The kinds of question.
const (
	AskClarification Name = "clarification"
	AskBlocker       Name = "blocker"
	AskPermission    Name = "permission"
	AskDelegation    Name = "delegation"
	AskBudget        Name = "budget"
	AskCommand       Name = "command"
	AskFile          Name = "file"
	AskOverrun       Name = "overrun"     // work that takes longer than its estimate
	AskElicitation   Name = "elicitation" // an MCP server of the person's own asks
	AskPlan          Name = "plan"        // whether what an agent has planned is carried out
	AskRefusal       Name = "refusal"     // claude has refused a call by itself: whether it may be made after all
)

// A Kind is a row of the table of kinds: what is the same of all questions of one. What its agent is told is in the
// core, beside what its answers do there.
type Kind struct {
	Decides  bool // its answer is one of our words, with what belongs to it behind it
	Evidence bool // its texts are what a person permits, and not only what an agent says
	Lets     bool // its answer lets something happen: it is answered by its id alone, and denied in place of declined
	Beside   bool // words may stand beside an option: "2: skip the vendored folder"
	Noted    bool // so may a note beside what is chosen: "2: but in green"
	Sharable bool // its answer can be that of others that are alike
	Writable bool // it may be answered by what was written down before: by a task file
	Posted   bool // it lies in the folder of question files, where anybody may answer it
	Tells    bool // its answer tells the agent something, and has nothing done
	InCall   bool // it is about the call that it is asked in: its answer is for that call, or for the same made again
	Ruled    bool // a rule answers it too: one of --allow, one of the run, or --permissions deny
	Server   bool // an MCP server asks it, and alone gets the answer
	Hands    bool // it hands work to another agent: a person may change the work, or say what is to be done instead
	Runs     bool // its answer has a command run as the person: only on a terminal, by a word that is typed
	Aside    bool // its agent does not wait for it
	Plans    bool // what its agent has planned is carried out where it is approved; all else changes it
	Refused  bool // its call was refused: the agent works on, and the answer may let the same call through once
	Again    bool // it may be answered differently later, in another run: its answers are told, and have nothing done
	Images   bool // its answer may have images

	Yes string // the answer that lets a call be made, in the words of the kind; "": it is about none

	Words string // what words of the person's are for, beside the options; "": they are an answer of their own

	heading  string            // what a form calls it; "": by its header
	headings map[string]string // what it calls one whose header is a word of ours

	check   func(q *Question, answer, folder string) error // why an answer decides nothing; nil: any does
	refuse  func(why string) string                        // the answer that says no; nil: there is none
	grants  func(q *Question) bool                         // as Grants; nil: no answer does
	advance func(q *Question, fromFile bool) string        // as InAdvance; nil: any answer can
	resolve func(q *Question) Resolution                   // as Resolve; nil: it says only what it says
}

var kinds = map[Name]Kind{
	AskClarification: {Noted: true, Sharable: true, Writable: true, Posted: true, Tells: true, Again: true,
		Images: true},
	AskBlocker: {Beside: true, Sharable: true, Writable: true, Posted: true, Again: true, Images: true,
		Words:   "In your own words, or what belongs to the option",
		heading: "Blocked", headings: map[string]string{
			"missing_info": "Blocked: it lacks information", "external_dependency": "Blocked: needs something from outside",
			"error": "Blocked by an error", "resource_limit": "Blocked by a limit"},
		resolve: resolveStop, grants: handsBlocked, advance: stopInAdvance},
	AskPermission: {Decides: true, Evidence: true, Lets: true, Sharable: true, InCall: true, Ruled: true, Yes: Allow,
		Words: "Why it is denied, or another rule to allow",
		check: checkPermission, refuse: deny, grants: permits, advance: permitInAdvance},
	// Its answer is approve, or words: what is to be changed. No rule and nothing that was written down approves it.
	AskPlan: {Evidence: true, Lets: true, InCall: true, Plans: true, Yes: Approve,
		Words: "What is to be changed, in place of approving it", heading: "A plan: carry it out?",
		check: checkPlan, refuse: deny, grants: approvesPlan, advance: planInAdvance},
	AskRefusal: {Decides: true, Evidence: true, Lets: true, InCall: true, Ruled: true, Refused: true, Yes: Allow,
		Words: "Why it stays refused", heading: "Refused by claude: allow it once?",
		check: checkPermission, refuse: deny, grants: permits, advance: permitInAdvance},
	AskDelegation: {Decides: true, Evidence: true, Lets: true, Sharable: true, Hands: true,
		Words: "Another task to approve, or why it is denied", heading: "Start another agent?",
		check: checkDelegation, refuse: deny, grants: approves, advance: approveInAdvance},
	AskBudget: {Decides: true, Lets: true, Aside: true, Words: "The new bound, if it is raised", heading: "Budget used up",
		check: checkBudget, grants: raises, advance: raiseInAdvance},
	AskCommand: {Evidence: true, Lets: true, Runs: true, heading: "Run a command as you?",
		refuse: leave, grants: runs, advance: runInAdvance},
	AskFile:    {Writable: true, Tells: true},
	AskOverrun: {Beside: true, Writable: true, Aside: true, heading: "It takes longer than estimated"},
	AskElicitation: {InCall: true, Server: true,
		grants: always, advance: serverInAdvance},
}

// Refusable reports whether a person can say no to a question of the kind: of one that lets something happen there may
// be only other answers.
func (k Kind) Refusable() bool { return !k.Lets || k.refuse != nil }

// KindOf returns the row of a kind; of one that is not known nothing holds.
func KindOf(n Name) Kind { return kinds[n] }

// Heading returns what a form calls a question of the kind with this header; "": the header says it.
func (k Kind) Heading(header string) string { return cmp.Or(k.headings[header], k.heading) }

// All returns the names of the kinds, in order.
func All() []Name { return slices.Sorted(maps.Keys(kinds)) }

// Refusing returns the answer that says no to a question of a kind, for a reason; "" where there is none but not to
// answer.
func Refusing(n Name, why string) string {
	if refuse := kinds[n].refuse; refuse != nil {
		return refuse(why)
	}
	return ""
}

// Grants reports whether the answer of a question lets something happen that a person has to let happen.
func Grants(q *Question) bool {
	grants := kinds[q.Kind].grants
	return grants != nil && q.State != checkpoints.QuestionOpen && !q.Skipped && !q.Declined && grants(q)
}

// InAdvance says of an answer to q, which q has for now, why it cannot be given in advance: what it would let happen,
// and what does that in advance; "" if it can. fromFile: it stands in a task file, which may come with a repository.
func InAdvance(q *Question, fromFile bool) string {
	if advance := kinds[q.Kind].advance; advance != nil {
		return advance(q, fromFile)
	}
	return ""
}

// Readies reports whether the answers to questions of a kind may want something done before their agent reads them.
func (k Kind) Readies() bool { return k.resolve != nil }

// Resolve reads what an answer to a stop wants done; of another question's it wants nothing.
func Resolve(q *Question) Resolution {
	if resolve := kinds[q.Kind].resolve; resolve != nil {
		return resolve(q)
	}
	return Resolution{}
}

// WorksOn reports whether an agent works on while a question of its is open, and is not done before it is answered.
func WorksOn(q *checkpoints.Question) bool { return q.Assumed != nil || KindOf(q.Kind).Refused }

// Hookable reports whether a hook may answer in place of a person: what is asked by can_use_tool.
func Hookable(q *checkpoints.Question) bool {
	return q.Tool != nil && !q.Tool.Served && q.Tool.ToolUse != "" && !KindOf(q.Kind).Server
}

// TakenBack reports whether claude has taken back the request of a question that has an answer.
func TakenBack(q *checkpoints.Question) bool {
	return q.State == checkpoints.QuestionAnswered && !q.Delivering && q.Tool.Launch == 0
}

// Unsaid reports whether a question is the first of a group of whose answers the agent has not been told all. One of a
// run that has had many is passed over by it before anything is looked up.
func Unsaid(q *checkpoints.Question) bool {
	return q.Index == 0 && q.State == checkpoints.QuestionAnswered && !IsFurther(q)
}

// IsFurther reports whether the answer of another question has led to this one: the agent reads of both in one.
func IsFurther(q *checkpoints.Question) bool { return KindOf(q.Kind).Runs || q.Asker != "" }

// OnlyTells reports whether the answer to a question tells the agent something, and has nothing done.
func OnlyTells(q *checkpoints.Question) bool { return KindOf(q.Kind).Tells }

// OfBudget reports whether a question is about a budget.
func OfBudget(q *checkpoints.Question) bool { return q.Kind == AskBudget }

// Posted reports whether a question lies in the folder under its own id: those that anybody may answer, and that have
// no file of their agent's.
func Posted(q *checkpoints.Question) bool {
	return q.File == nil && KindOf(q.Kind).Posted
}

// Writable reports whether a question of this kind may be answered by what was written down before: by a task file.
// What lets the agent do more than it may by itself is a person's to decide.
func Writable(kind checkpoints.QuestionKind) bool { return KindOf(kind).Writable }
