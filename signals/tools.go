package signals

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A ServedTool is a tool that the supervisor serves inside claude, to the main conversation and to its subagents. What
// it tells the supervisor is what the block of the same meaning tells (002), under the same names.
type ServedTool struct {
	Name        string          // without the server's: ask_user, for the CLI mcp__supervise__ask_user
	Description string          // for the model
	Schema      json.RawMessage // of the input: a JSON Schema (draft 2020-12) of type object, open to nothing else
}

// Tools are the tools that the supervisor serves, in the order in which they are listed to the model. Every request of
// every conversation carries their names, descriptions and schemas, so they are short: a little over 6 KiB together.
func Tools() []ServedTool {
	served := make([]ServedTool, 0, len(tools))
	for _, t := range tools {
		var schema bytes.Buffer
		if err := json.Compact(&schema, []byte(t.schema)); err != nil {
			panic(fmt.Sprintf("signals: the schema of %s: %v", t.name, err))
		}
		served = append(served, ServedTool{Name: t.name, Description: t.description, Schema: schema.Bytes()})
	}
	return served
}

// The limits in the schemas count characters and entries: what a person can read at one time. The CLI hands the schemas
// on to the model as they are and does not hold its calls to them; who serves the tools does, and tells the model which
// limit a call breaks, so that it can put the rest into a file.
var tools = []struct{ name, description, schema string }{
	{
		name: "ask_user",
		description: "Ask the person who gave the work, when information is missing, requirements have several valid " +
			"readings, or the choice is theirs. " +
			"Not for what the files tell or good practice decides. Subagents may call it too. " +
			"Waits for the person, hours or days: do not guess or call again. " +
			"Returns each question with its answer: an option's label, the person's own words, or a refusal with its reason.",
		schema: `{"type":"object","properties":{
			"questions":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"object","properties":{
				"id":{"type":"string","maxLength":64},
				"header":{"type":"string","maxLength":40,"description":"1-3 words"},
				"text":{"type":"string","minLength":1,"maxLength":4000},
				"context":{"type":"string","maxLength":8000,"description":"why, what you found"},
				"options":{"type":"array","minItems":2,"maxItems":12,"items":{"type":"object","properties":{
					"label":{"type":"string","minLength":1,"maxLength":200},
					"description":{"type":"string","maxLength":1000,"description":"what choosing it means"},
					"preview":{"type":"string","maxLength":4000,"description":"its look: code, a layout"}
				},"required":["label"],"additionalProperties":false}},
				"multi_select":{"type":"boolean"},
				"validate":{"type":"string","maxLength":500,"pattern":"^(choice|path|yes_no|(integer|number).*|regex:.+)$",
					"description":"choice: only the options; path: one that exists; integer 1..9"},
				"image":{"type":"string","maxLength":1000,"description":"path of a PNG, JPEG, GIF or WebP to show"}
			},"required":["text"],"additionalProperties":false}},
			"context":{"type":"string","maxLength":8000,"description":"for all questions"},
			"all_required":{"type":"boolean","description":"false: you can go on without some answers"},
			"urgent":{"type":"boolean"},
			"wait":{"type":"boolean","description":"false: one question, returns at once; go on under assumption, the ` +
			`answer comes as a message. Only for what can be undone"},
			"assumption":{"type":"string","maxLength":2000},
			"affects":{"type":"array","maxItems":50,"items":{"type":"string","maxLength":1000},` +
			`"description":"paths made under it"}
		},"required":["questions"],"additionalProperties":false}`,
	},
	{
		name: "stop_work",
		description: "Report a blocker: a missing tool or service, an error that you cannot fix, a limit. " +
			"Save your work first. " +
			"Waits until the person has decided. Returns what was resolved and how to go on; this call " +
			"does not end your work.",
		schema: `{"type":"object","properties":{
			"stop_reason":{"enum":["blocker","error"]},
			"blocker_type":{"enum":["missing_info","external_dependency","error","resource_limit"]},
			"details":{"type":"string","minLength":1,"maxLength":8000},
			"completed_work":{"type":"string","maxLength":8000},
			"blocked_work":{"type":"string","maxLength":8000},
			"options":{"type":"array","maxItems":8,"items":{"type":"string","minLength":1,"maxLength":100},
				"description":"ways out, for the person to choose"},
			"state_snapshot":{"type":"string","maxLength":8000,"description":"files, folder, progress"},
			"resume_requirements":{"type":"string","maxLength":8000,
				"description":"what you need; a line \"run: COMMAND\" offers it to the person"},
			"error_recovery":{"type":"string","maxLength":8000}
		},"required":["blocker_type","details"],"additionalProperties":false}`,
	},
	{
		name: "delegate_work",
		description: "Ask for another agent to do a part. Returns what was decided: its id, or why it " +
			"was denied and what to do instead; that may wait for a person. " +
			"How it ended you are told in a later message. If independence is blocks_current_work, end " +
			"your turn: that is your next message.",
		schema: `{"type":"object","properties":{
			"new_task_description":{"type":"string","minLength":1,"maxLength":20000,
				"description":"all of it: context, goal, success criteria; it knows nothing else"},
			"delegation_reason":{"type":"string","maxLength":2000},
			"independence":{"enum":["can_proceed_parallel","blocks_current_work","optional"]},
			"priority":{"enum":["P0","P1","P2"]},
			"context_required":{"type":"string","maxLength":8000,"description":"files and facts that it needs"},
			"coordination":{"type":"string","maxLength":8000,"description":"who does what, who leaves which files alone"},
			"estimated_duration":{"type":"string","maxLength":100},
			"subagent_type":{"type":"string","maxLength":100},
			"model":{"type":"string","maxLength":100},
			"max_turns":{"type":"integer","minimum":1,"maximum":10000},
			"fork_context":{"type":"boolean","description":"it begins with your conversation"},
			"resume":{"type":"string","maxLength":64,"description":"id of an ended agent that is to go on"}
		},"required":["new_task_description"],"additionalProperties":false}`,
	},
	{
		name: "check_work",
		description: "Look how agents you delegated to get on: one by its id, or all. Returns status, progress, last " +
			"output, an ended one's result; with block once one ends, or at the timeout. You are told of ends: do not poll.",
		schema: `{"type":"object","properties":{
			"agent_id":{"type":"string","maxLength":64},
			"block":{"type":"boolean"},
			"timeout":{"type":"integer","minimum":1,"maximum":600000,"description":"ms"}
		},"additionalProperties":false}`,
	},
	{
		name:        "report_progress",
		description: "Show the person how far you are, now and then in long work. Returns at once.",
		schema: `{"type":"object","properties":{
			"percent":{"type":"number","minimum":0,"maximum":100},
			"step":{"type":"string","minLength":1,"maxLength":500},
			"eta":{"type":"string","maxLength":100}
		},"required":["step"],"additionalProperties":false}`,
	},
	{
		name: "report_completion",
		description: "Report the end of the whole task, last of all, when nothing of yours still runs; without it your " +
			"work does not count as done. A subagent's stands until its agent reports. " +
			"Returns at once, naming deliverables that are missing on disk: fix and report again.",
		schema: `{"type":"object","properties":{
			"status":{"enum":["success","partial_success","failed"]},
			"summary":{"type":"string","minLength":1,"maxLength":20000},
			"deliverables":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1,"maxLength":1000},
				"description":"each file you made, by its path"},
			"metrics_achieved":{"type":"string","maxLength":8000,"description":"how each success criterion was met"},
			"issues_encountered":{"type":"string","maxLength":8000},
			"recommendations":{"type":"string","maxLength":8000},
			"total_duration":{"type":"string","maxLength":100}
		},"required":["status","summary"],"additionalProperties":false}`,
	},
	{
		name: "send_message",
		description: "Tell the person, or another agent of this run, which reads it at its next turn; one that you started " +
			"reads it at once: redirect, extend or stop it. For an answer use ask_user.",
		schema: `{"type":"object","properties":{
			"to":{"type":"string","minLength":1,"maxLength":64,"description":"an agent's id, or \"user\""},
			"text":{"type":"string","minLength":1,"maxLength":20000},
			"stop":{"type":"boolean","description":"end it"}
		},"required":["to","text"],"additionalProperties":false}`,
	},
}
