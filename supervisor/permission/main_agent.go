package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"claude-supervise/procs/claude"
)

// The conversation of a launch follows an agent definition where the person's settings (agent) or --agent name one, and
// has no tools but those that it lists: ours are then missing, whatever is served. Measured on 2.1.332; of a definition
// that is not found, as of those that claude brings itself, nothing is believed.

// A mainAgent is the definition that conversations follow.
type mainAgent struct {
	name, from string // from: the settings or flag that names it
	managed    bool
	toolless   bool // it leaves out tools by which agents ask and report
}

// mainAgent finds the definition that the person's settings and flags name. The nearest file in the folder counts
// before one of the person's own.
func (p Person) mainAgent(folder string, flags []string, cwd string) (m mainAgent) {
	for _, s := range p.sources { // what comes later wins, but for an administrator's
		if name, _ := s.settings["agent"].(string); name != "" && !m.managed {
			m = mainAgent{name: name, from: s.from, managed: s.managed}
		}
	}
	if given := claude.FlagValues(flags, "--agent"); len(given) > 0 {
		m = mainAgent{name: given[len(given)-1], from: "--agent"}
	}
	if m.name == "" {
		return mainAgent{}
	}
	found := &InFolder{agents: map[string]map[string]any{}}
	for _, doc := range claude.FlagValues(flags, "--agents") {
		_ = json.Unmarshal([]byte(doc), &found.agents) // claude drops what it cannot read, too
	}
	found.readAgents(ProjectFolder{Cwd: cwd, Claude: folder}, checkoutOf(cwd))
	found.definitions(filepath.Join(folder, "agents"))
	definition := found.agents[m.name]
	lists := func(member string) (rules []string, listed bool) {
		if rules, listed = definition[member].([]string); !listed { // of --agents it is as JSON has it
			rules, listed = toolList(definition[member]).([]string)
		}
		return rules, listed
	}
	tools, listed := lists("tools")
	denied, _ := lists("disallowedTools")
	m.toolless = slices.ContainsFunc(needed(), func(tool string) bool {
		names := func(rule string) bool { return covers(rule, tool) }
		return listed && !slices.ContainsFunc(tools, names) || slices.ContainsFunc(denied, names)
	})
	return m
}

// needed are the tools without which agents cannot ask a person or report.
func needed() []string {
	return []string{claude.ToolPrefix + "ask_user", claude.ToolPrefix + "stop_work",
		claude.ToolPrefix + "report_completion"}
}
