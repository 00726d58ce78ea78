// Package taskfile reads the task files of `run -f`: what an agent is to do, as a file that can be kept, reviewed and
// written by a program. It reads only what it is given, starts nothing and asks nobody. All keys but the prompt are
// optional:
//
//	# yaml-language-server: $schema=task.schema.json
//	prompt: Write MIGRATION.md for the move to PostgreSQL
//	context: |
//	  The service is in ./api; its tables are in db/schema.sql.
//	goals:
//	  - every table has a plan
//	success_criteria:
//	  - every table of db/schema.sql has a section
//	deliverables:
//	  - MIGRATION.md
//	name: migration          # for people
//	model: opus              # handed on to claude
//	max_turns: 40            # handed on to claude
//	permissions: deny        # or ask
//	allow: [Bash(make test)] # wished for: in force only where the person says --allow task
//	deny: ["Bash(git push:*)"] # never runs
//	answers:
//	  Which version: "17"    # KEY: VALUE, as --answer takes them
//	accept_ids: [bg-task-1]  # agent ids in signals that count as this agent's
//	hold: 10m                # as --hold takes it
//	max_parallel: 3          # under what the person sets; as well max_depth, max_agents, max_cost_usd, max_tokens,
//	                         # max_time
//	delegate: auto           # or ask, deny; by depth auto,ask
//	worktree: true           # each child in a git worktree of its own
//
// Work for other agents stands in it as children, or as a pool. With a prompt the task's own agent begins when they
// have ended, and reads how; without one they are all there is. The context is everybody's.
//
//	children:                # or a map, NAME: CHILD
//	  - name: schema
//	    prompt: Write db/schema.sql
//	  - name: api
//	    prompt: Write the API
//	    after: [schema]      # begins once these have succeeded
//	    priority: P0         # or P1, P2
//	    independence: optional # then nobody waits for it
//	    subagent_type: reviewer
//	    estimated_duration: 20 min
//	    # and context, goals, success_criteria, deliverables, model, max_turns, max_cost_usd, max_tokens, max_time,
//	    # children
//
//	each: {files: "docs/**/*.md"} # or {lines: FILE}, or --each 'COMMAND'
//	child:                   # what is done with each; without it the task itself
//	  prompt: Proofread {item}, number {index}
//
// A task file may come with a repository that nobody has read. So it names no program to run, and an answer in it lets
// an agent do nothing that it may not do by itself; the flags that a person gives go before it.
package taskfile

import (
	_ "embed"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
)

// Schema is the JSON Schema (draft 7) of a task file, for editors.
//
//go:embed task.schema.json
var Schema string

// A Task is what a task file, and each child in it, says of its work.
type Task struct {
	Name      string // for people; what others call a child under After
	Prompt    string
	Brief     task.Brief
	Model     string
	MaxTurns  int
	Estimated string // how long it takes, in the words of its author
	Budget    conf.Budget
}

// A File is what a task file says. What it does not say is the zero value.
type File struct {
	Task
	Permissions conf.Permissions
	Allow, Deny []string // rules, as rules.Parse takes them
	Answers     []conf.Preset
	AcceptIDs   []string
	Hold        string // as supervisor.ParseHold takes it

	// Work for agents besides the one that does the task, if that has a prompt: stated children, or a pool of like tasks.
	Children []Child
	Each     *Each  // what the tasks of a pool are about
	Template *Child // what is done with each; nil: the task itself is

	// Limits, as the task's budget is: they make those of the person narrower and never wider.
	Delegate                         conf.Delegates // nil: not said
	MaxParallel, MaxDepth, MaxAgents int
	Worktree                         bool
}

// A Child is work that a task file states for an agent of its own.
type Child struct {
	Task
	After        []string // children that have to succeed before it begins
	Priority     string   // P0, P1, P2
	Independence string   // can_proceed_parallel, blocks_current_work, optional
	Type         string   // the kind of agent, as claude knows it
	Children     []Child  // it begins once they have ended, and reads how
}
