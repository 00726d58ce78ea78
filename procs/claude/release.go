package claude

import (
	"errors"
	"fmt"
	"go/version"
	"slices"
	"strconv"
	"strings"
)

// A Release is what one release of the CLI can, as far as releases differ in it. Each was seen on the releases named in
// measured, talking to a scripted API.
type Release struct {
	Version  string // as `claude --version` says it; "" if it is not known
	Measured bool   // this very release was, and not one before it

	Receipts         bool // says itself how far a message has got (command_lifecycle); else its echoes tell
	TakesMidTurn     bool // a message taken into a running turn is seen once by the model, and not twice
	SubagentText     bool // shows what subagents say (--forward-subagent-text); else only their calls
	SubagentIDs      bool // says the id of a subagent when it starts (task_started)
	BackgroundList   bool // lists what lives on whenever that changes (background_tasks_changed)
	HookMessage      bool // the Stop hook's input has the last message (last_assistant_message)
	HookBackground   bool // and what lives on (background_tasks, session_crons)
	WaitsForTasks    bool // at the end of its input it waits for what lives on; else it kills that, and exits with 0
	NestsSubagents   bool // a subagent may start subagents of its own
	RevivesSubagents bool // a subagent of a process that was ended goes on with its work (SendMessage)
	ResumesAnywhere  bool // finds a conversation from any directory; else from that alone in which it was begun
	// a process goes by the prompt of its agent type (Spec.AgentType), and from 2.1.200 on its tools; else by its model
	// alone
	AgentTypes   bool
	AddedMemory  bool // reads the CLAUDE.md of a folder given with --add-dir, if the environment says so
	SaysSpending bool // says at any time what it has spent (get_usage)
	Elicits      bool // hands over what an MCP server of the person's own asks; else the server is told that nobody can
	// a conversation that ended in an open call is continued there, with the call's result (Spec.At): see placesFrom
	AnswersInPlace bool
	AsksTyped      bool // its AskUserQuestion asks for text and numbers too, where the environment says so: see typedFrom
	HookAsks       bool // asks a person where a hook wants that, whatever permits the call; else a rule has the last word
	TotalsGoOn     bool // its totals are those of the conversation, not of the process (total_cost_usd, modelUsage)
}

// measured are the releases that were looked at, oldest first. One between two of them is taken for the older, one
// before all for the oldest, and one after all for the newest.
var measured = []Release{
	{Version: "2.1.7"}, // Task{resume} makes a request that the API refuses
	{Version: "2.1.100", AddedMemory: true, TakesMidTurn: true, SubagentIDs: true, HookMessage: true,
		WaitsForTasks: true, AgentTypes: true, Elicits: true, HookAsks: true},
	{Version: "2.1.200", AddedMemory: true, TakesMidTurn: true, SubagentIDs: true, HookMessage: true, HookBackground: true,
		WaitsForTasks: true, NestsSubagents: true,
		RevivesSubagents: true, AgentTypes: true, SaysSpending: true, Elicits: true, HookAsks: true},
	newRelease("2.1.329"), newRelease("2.1.330"), newRelease("2.1.331"), newRelease("2.1.332"),
}

// newRelease is a release that can all that 2.1.329 can, and no more.
func newRelease(version string) Release {
	return Release{Version: version, AddedMemory: true, TakesMidTurn: true, SubagentIDs: true, HookMessage: true,
		HookBackground: true, WaitsForTasks: true, NestsSubagents: true, RevivesSubagents: true, AgentTypes: true,
		SaysSpending: true, Receipts: true, SubagentText: true, BackgroundList: true, ResumesAnywhere: true,
		TotalsGoOn: true, Elicits: true, HookAsks: true, AnswersInPlace: true, AsksTyped: true}
}

// placesFrom is the first release that was seen to continue a conversation at an open call. 2.1.260 was seen to drop
// the call, and no release between was tried. It is looked for by itself: nothing else was measured of it.
const placesFrom = "2.1.270"

// typedFrom is the first release that was seen to ask for text and numbers; 2.1.200 refuses such a call, and no release
// between was tried. See placesFrom.
const typedFrom = "2.1.260"

// ReleaseOf returns what the release with this version can. A version that is none is taken for the oldest.
func ReleaseOf(v string) Release {
	r := measured[0]
	for _, m := range slices.Backward(measured) {
		if compareVersions(m.Version, v) <= 0 {
			r = m
			break
		}
	}
	r.Measured = r.Version == v
	r.Version = v
	r.AnswersInPlace = r.AnswersInPlace || compareVersions(placesFrom, v) <= 0
	r.AsksTyped = r.AsksTyped || compareVersions(typedFrom, v) <= 0
	return r
}

// forwardSubagentText is the flag that shows what subagents say.
const forwardSubagentText = "--forward-subagent-text"

// refuses reports whether the release is known to end at a flag of ours, which saves a launch.
func (r Release) refuses(flag string) bool {
	return flag == forwardSubagentText && r.Measured && !r.SubagentText
}

// environ is what a process of the release needs in its environment. One that kills what lives on at the end of its
// input, and does not say that anything does, has all work in the foreground. One of which nothing is known is left as
// it is: it is more likely a new one, in a script of somebody's own.
func (r Release) environ() (env []string) {
	if r.Version != "" && !r.WaitsForTasks {
		env = append(env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1")
	}
	if r.AsksTyped {
		env = append(env, asksTyped, showsPreviews)
	}
	return env
}

// What the CLI's AskUserQuestion does only where the environment says so.
const (
	asksTyped     = "CLAUDE_CODE_QUESTION_EXTENDED=1"              // it takes questions that ask for text or for a number
	showsPreviews = "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT=markdown" // its text says when to show previews, in 700 bytes
)

// NewestMeasured returns the version of the newest release that was measured.
func NewestMeasured() string { return measured[len(measured)-1].Version }

// NewerThanMeasured reports whether the release came after all that were measured.
func (r Release) NewerThanMeasured() bool { return compareVersions(r.Version, NewestMeasured()) > 0 }

// FromNewest says how far the release is from the newest that was measured: "3 before 2.1.332", "1 after 2.1.332", or
// "2.1.332" itself. The number is left out where more than the last part of the version differs.
func (r Release) FromNewest() string {
	newest := NewestMeasured()
	if r.Version == newest {
		return newest
	}
	where := "before "
	if r.NewerThanMeasured() {
		where = "after "
	}
	cut := strings.LastIndex(newest, ".") + 1
	part, ofSame := strings.CutPrefix(r.Version, newest[:cut])
	own, err := strconv.Atoi(part)
	theirs, err2 := strconv.Atoi(newest[cut:])
	if ofSame && errors.Join(err, err2) == nil {
		where = fmt.Sprintf("%d %s", max(own-theirs, theirs-own), where)
	}
	return where + newest
}

// compareVersions orders versions by their numbers; what is no version comes before all. They have the form of Go's.
func compareVersions(a, b string) int { return version.Compare("go"+a, "go"+b) }

// A Channel is one way in which an agent and we reach each other.
type Channel struct {
	Name string
	Has  bool   // this release has it
	How  string // what that means, in one line for people
}

// Channels returns all channels and whether the release has each.
func (r Release) Channels() []Channel {
	either := func(name string, has bool, with, without string) Channel {
		if has {
			return Channel{name, true, with}
		}
		return Channel{name, false, without}
	}
	unlisted := "what lives on after a turn may be missed"
	if r.Version != "" && !r.WaitsForTasks {
		unlisted = "work is kept in the foreground, else may be missed" // else: in a script, where it cannot be told
	}
	return []Channel{
		{"text", true, "questions that an agent writes are read"},
		{"AskUserQuestion", true, "is asked here and answered in the same turn"},
		{"permission prompts", true, "are asked here and answered in the same turn"},
		{"tools", true, "agents and subagents call ours and get the answer"},
		{"gate", true, "an agent without a report is asked for it once"},
		either("receipts", r.Receipts, "it says itself which message it has taken",
			"echoes and transcript tell which message it has taken"),
		either("subagent text", r.SubagentText, "what subagents write is shown", "only the calls of subagents are shown"),
		either("background list", r.BackgroundList || r.HookBackground, "it lists what lives on after a turn", unlisted),
		either("subagent revival", r.RevivesSubagents, "a parked subagent continues with its own work",
			"a parked subagent's task is given again, with its work"),
		either("answers in place", r.AnswersInPlace, "after a park an answer is the result of its own call",
			"after a park a prompt has the question and its answer"),
		either("typed questions", r.AsksTyped, "AskUserQuestion asks for text and numbers too",
			"AskUserQuestion asks for choices alone; ask_user for all"),
		either("nested subagents", r.NestsSubagents, "a subagent may start subagents of its own",
			"a subagent has no tool to start others"),
		either("elicitation", r.Elicits, "what an MCP server asks in a call is asked here",
			"an MCP server that asks hears that nobody can answer"),
	}
}
