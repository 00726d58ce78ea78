package signals

import "strings"

// Templates are the blocks that an agent may print, with its id filled in, for the statement that it gets before its
// task. They are kept short (at most 1.5 KB): every conversation pays for them.
func Templates(agentID string) string { return blocksOf(askBlocks+reportBlock+progressLine, agentID) }

// SubagentTemplates are those that a subagent of an agent may print: completion is not its to report.
func SubagentTemplates(agentID string) string { return blocksOf(askBlocks+progressLine, agentID) }

// Fallback is the shorter form of Templates for an agent that has the supervisor's tools, whose schemas name the
// fields: what it may print where the tools fail.
func Fallback(agentID string) string {
	short := optional().ReplaceAllString(askBlocks+reportBlock, "")
	return blocksOf(strings.TrimSuffix(short, "\n"), agentID)
}

// optional is what only the longer form has.
var optional = lazily(`~[^~]*~`)

func blocksOf(blocks, agentID string) string {
	return strings.NewReplacer("~", "", "AGENT", agentID).Replace(blocks)
}

const askBlocks = `[CLARIFICATION_NEEDED]
agent_id: AGENT
timestamp: <ISO 8601>
~blocked_at: <step or file>
~reason: <why you ask>
questions:
  - question_id: Q1
    text: <question>
    context: <why it matters>
    options: [<choice>, <choice>]
~can_resume_with: <what would unblock you>
current_state: <what is done>
~[/CLARIFICATION_NEEDED]

[STOP_WORK]
agent_id: AGENT
timestamp: <ISO 8601>
stop_reason: <blocker|error>
blocker_type: <missing_info|external_dependency|error|resource_limit>
details: <the blocker>
~completed_work: <done>
blocked_work: <not done>
state_snapshot: <files, folder, progress>
resume_requirements: <what you need>
~[/STOP_WORK]

[DELEGATE_WORK]
agent_id: AGENT
timestamp: <ISO 8601>
new_task_description: <a whole task~, with goal and success criteria~>
independence: <can_proceed_parallel|blocks_current_work|optional>
~priority: <P0|P1|P2>
context_required: <what it must know>
coordination: <who does what>
~[/DELEGATE_WORK]

`

const reportBlock = `[COMPLETION_REPORT]
agent_id: AGENT
timestamp: <ISO 8601>
status: <success|partial_success|failed>
deliverables:
  - <path>
summary: <what was done>
~metrics_achieved: <how the criteria were met>
issues_encountered: <or none>
recommendations: <or none>
~[/COMPLETION_REPORT]

`

const progressLine = `Progress, one line: {"signal_type":"PROGRESS","agent_id":"AGENT","payload":` +
	`{"percent":40,"step":"<what>","eta":"<when>"}}
`
