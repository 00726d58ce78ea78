// Package supervisor decides: what a run's agents ought to be doing, what they are told, and when they are done. It is
// the only package that knows the others: procs for the processes, signals for what agents print, checkpoints for
// what lasts.
//
// Use it to start or resume a run (Supervisor), to look at runs (Reader) and to leave answers and stops for them
// (Client). It draws nothing and asks nobody: it tells its Supervisor's functions, and takes answers from the inbox.
//
// # Decide, save, act
//
//	event ──▶ Step(state, event) ──▶ one transaction ──▶ notices ──▶ Plan(state) ──▶ effects ──▶ event
//
// Step and Plan are pure. The engine's one goroutine owns the state of a run. For each event it takes the step, saves
// the changed records with the event as history, tells what changed, and starts what the plan wants and is not yet
// under way. So nothing is shown, answered, launched or killed before it is saved, and a supervisor that takes over a
// run after a crash does nothing special: it loads the records and follows the plan.
//
//	state.go             the records of one run; drafts of the next
//	event.go             all that can happen
//	step*.go, settle.go  what follows from it; hold.go how long a process waits, speak.go what it is told
//	called.go            calls of the tools that we serve; user_question.go AskUserQuestion, permission.go what is to be permitted
//	conversation.go      what one process has under way; subagent.go what becomes of subagents that waited when it ended
//	message.go           what is said to an agent that answers nothing
//	rules*.go, project*.go what runs unasked, and what of that a repository may not decide; preview*.go what a person sees of a call
//	plan.go              what ought to be under way
//	engine.go            the loop; batch.go, save.go what is saved together; child.go what a process says; effects.go what is done
//	attend.go            a run as somebody elsewhere sees it
//	pack*.go, unpack*.go a run as one file, to go on elsewhere
//	identity.go          the statement before every task; prompts.go every other text that an agent reads from us
package supervisor
