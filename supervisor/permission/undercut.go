package permission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// The person's own settings are trusted, and some of them break a promise of a run without a word: that a question
// waits for its answer, that nothing is refused in the person's name, that a conversation can be continued. For each
// such setting this table says what becomes of it: our own settings say otherwise (ours), or it stays in force and is
// named. What is not in the table touches no promise: testdata/settings.txt has a line for each setting of the newest
// release, and e2e/claude fails for one that nobody has decided about.
//
// Measured on 2.1.7, 2.1.100, 2.1.200 and 2.1.332: our --settings win over the person's settings file, and an
// administrator's win over ours. disableAllHooks and allowManagedHooksOnly leave our hooks alone, the lists of MCP
// servers our server, askUserQuestionTimeout and dialogExpiry our questions, cleanupPeriodDays what is kept of a
// conversation (procs/claude/conversation_copy.go).

// A decision is what becomes of a setting.
type decision struct {
	name string         // the member, with dots; below env is a variable
	hits func(any) bool // the value breaks a promise
	ours any            // what our settings say in its place; nil: it stays in force
	does string         // what it would do, or does, to a run
	// instead is what a run does in its place, where the person may miss it; "": nothing that they could miss.
	instead string
	// byAdmin says that claude heeds it in an administrator's settings alone, or that only those win over ours.
	byAdmin bool
}

// env is what begins the name of a variable.
const env = "env."

var decisions = []decision{
	{name: env + "MCP_TOOL_TIMEOUT", hits: isShort(procs.ToolPatience), ours: strconv.Itoa(procs.ToolPatience),
		does: "ends a question of ask_user before it is answered"},
	{name: env + "MCP_TIMEOUT", hits: isShort(claude.LeastConnect), ours: strconv.Itoa(claude.LeastConnect),
		does: "gives our tools too little time to connect"},
	{name: env + "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT", hits: isOn, ours: "",
		does: "ends a question of ask_user before it is answered"},
	{name: env + "CLAUDE_AFK_TIMEOUT_MS", hits: isOn, ours: "", does: "goes on without an answer"},
	{name: env + "CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS", hits: isOn, ours: "", does: "goes on without an answer"},
	{name: env + "CLAUDE_AGENT_SDK_MCP_NO_PREFIX", hits: isOn, ours: "", does: "renames our tools"},
	{name: env + "CLAUDE_CODE_SIMPLE", hits: isOn, ours: "", does: "takes AskUserQuestion and our hooks away"},
	{name: env + "CLAUDE_CODE_COORDINATOR_MODE", hits: isOn, ours: "",
		does: "takes our tools and AskUserQuestion away"},
	{name: env + "CLAUDE_CODE_BRIEF", hits: isOn, ours: "", does: "hides what the agent writes"},
	{name: env + "CLAUDE_CODE_SKIP_PROMPT_HISTORY", hits: isOn, ours: "",
		does: "keeps no conversation that could be resumed"},
	{name: env + "CLAUDE_CODE_RESUME_INTERRUPTED_TURN", hits: isOn, ours: "", does: "begins turns that nobody ordered"},
	{name: env + "CLAUDE_CODE_DISABLE_DEFERRED_TOOL_RESUME", hits: isOff, ours: "1",
		does: "runs a call that a hook of yours has deferred"},
	{name: "permissions.defaultMode", hits: is("dontAsk"), ours: "default",
		does:    "refuses questions and permissions without asking",
		instead: "here they are asked, and --permissions deny refuses the latter"},

	{name: env + "CLAUDE_CONFIG_DIR", hits: isOn,
		does: "has conversations kept where they are not looked for: export it in your shell instead"},
	{name: env + "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", hits: isOn, does: "takes the marks of a run from what agents start"},
	{name: env + "CLAUDE_CODE_MAX_TURNS", hits: isOn, does: "ends a turn after so many requests (exit code 4)"},
	// true in any of the sources wins
	{name: "permissions.denyInsteadOfPrompting", hits: is(true),
		does: "refuses permissions without asking, and takes AskUserQuestion away: agents ask by ask_user"},
	{name: "crossSessionInbound", hits: is("accept"), byAdmin: true, does: "lets your other sessions begin turns in runs"},
	{name: "policyHelper", hits: isOn, byAdmin: true, does: "computes further settings, which are not looked at here"},
	{name: "policyHelpers", hits: isOn, byAdmin: true, does: "computes further settings, which are not looked at here"},
}

// isOn reports whether a value sets something. isOff is its opposite.
func isOn(v any) bool {
	switch v {
	case nil, "", "0", "false", false:
		return false
	}
	return true
}

func isOff(v any) bool { return !isOn(v) }

func is(value any) func(any) bool { return func(v any) bool { return v == value } }

// isShort reports whether a value is less than so many milliseconds. One that is no number counts as short.
func isShort(least int) func(any) bool {
	return func(v any) bool {
		n, err := strconv.Atoi(fmt.Sprint(v))
		return isOn(v) && (err != nil || n < least)
	}
}

// ManagedFolder is where an administrator's settings are.
func ManagedFolder() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// A source is a document of settings that counts in every run.
type source struct {
	from     string // for people
	settings map[string]any
	managed  bool // by an administrator: ours do not win over it
}

// Person are the settings of the person, and of whoever administers their machine.
type Person struct {
	sources []source
	agent   mainAgent
	model   string // that is asked for by a flag; "": none
	servers string // an administrator's list of MCP servers beside which claude connects none; "": there is none
}

// PersonSettings reads the settings in the person's .claude, those that an administrator has laid, and those that the
// person gives by flags for claude. What cannot be read is left out: claude does not take it either. A relative
// --settings is found in cwd.
func PersonSettings(folder string, flags []string, cwd string) Person {
	var p Person
	read := func(path string, managed bool) {
		var settings map[string]any
		if raw, err := readText(path, maxSettings); err == nil && json.Unmarshal([]byte(raw), &settings) == nil {
			p.sources = append(p.sources, source{path, settings, managed})
		}
	}
	read(filepath.Join(ManagedFolder(), "managed-settings.json"), true)
	more, _ := filepath.Glob(filepath.Join(ManagedFolder(), "managed-settings.d", "*.json"))
	for _, path := range more {
		read(path, true)
	}
	list := filepath.Join(ManagedFolder(), "managed-mcp.json")
	if _, err := os.Stat(list); err == nil {
		p.servers = list
	}
	read(filepath.Join(folder, "settings.json"), false)
	if given, _ := givenSettings(flags, cwd); given != nil {
		p.sources = append(p.sources, source{"--settings", given, false})
	}
	if rules := claude.FlagValues(flags, "--disallowedTools", "--disallowed-tools"); len(rules) > 0 {
		p.sources = append(p.sources, source{"--disallowedTools", deny(splitRules(rules)), false})
	}
	if models := claude.FlagValues(flags, "--model"); len(models) > 0 {
		p.model = models[len(models)-1]
	}
	p.agent = p.mainAgent(folder, flags, cwd)
	return p
}

func deny(rules []string) map[string]any {
	var all []any
	for _, r := range rules {
		all = append(all, r)
	}
	return map[string]any{"permissions": map[string]any{"deny": all}}
}

// splitRules splits rules as the flag takes them: by commas and blanks outside parentheses.
func splitRules(values []string) []string {
	depth := 0
	return strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || r == ' ')
	})
}

// An Undercut is a setting of the person's that would break a promise of a run, or breaks it.
type Undercut struct {
	Setting string // with its value, as one line
	From    string
	Does    string
	Held    bool   // our settings say otherwise: it is not in force in a run
	Instead string // what the run does then, where the person may miss what it does; "": nothing they could miss
	ByAdmin bool   // it is an administrator's
}

// String is the undercut as a sentence.
func (u Undercut) String() string {
	held := ""
	if u.Held && u.Instead != "" {
		held = "; " + u.Instead
	}
	if u.Held {
		held += " (not in force in runs)"
	}
	return fmt.Sprintf("%s in %s %s%s", u.Setting, u.From, u.Does, held)
}

// Undercuts lists the settings that break a promise, and those that would if ours did not hold.
func (p Person) Undercuts() (all []Undercut) {
	for _, s := range p.sources {
		for _, d := range decisions {
			if value, has := lookup(s.settings, d.name); has && d.hits(value) && (s.managed || !d.byAdmin) {
				all = append(all, Undercut{Setting: setting(d.name, value), From: s.from, Does: d.does, Instead: d.instead,
					Held: d.ours != nil && !s.managed, ByAdmin: s.managed})
			}
		}
		if models, has := lookup(s.settings, "availableModels"); has && p.leavesOutModel(models) {
			all = append(all, Undercut{Setting: setting("availableModels", models), From: s.from, ByAdmin: s.managed,
				Does: "has claude use another model than " + text.Visible(p.model) + ", which is asked for, without a word"})
		}
		for _, rule := range s.denied() {
			switch {
			case deniesOurs(rule):
				all = append(all, Undercut{Setting: "the denied rule " + text.Visible(rule), From: s.from, ByAdmin: s.managed,
					Does: "takes tools of ours away; where agents cannot ask by them they ask by text"})
			case toolOf(rule) == "AskUserQuestion":
				all = append(all, Undercut{Setting: "the denied rule " + text.Visible(rule), From: s.from, ByAdmin: s.managed,
					Does: "takes that tool away; agents ask by ours"})
			}
		}
	}
	if p.agent.toolless {
		all = append(all, Undercut{Setting: setting("agent", p.agent.name), From: p.agent.from, ByAdmin: p.agent.managed,
			Does: "leaves agents the tools that it lists, and ours are not among them: they ask by text"})
	}
	if p.servers != "" {
		all = append(all, Undercut{Setting: "the list of MCP servers", From: p.servers, ByAdmin: true,
			Does: "lets claude connect no other, ours included: agents ask by AskUserQuestion and by text"})
	}
	return all
}

// leavesOutModel reports whether a list of models is without the one that a flag asks for. Either may be an alias, the
// beginning of a name, or the whole of it.
func (p Person) leavesOutModel(models any) bool {
	list, is := models.([]any)
	return is && p.model != "" && !slices.ContainsFunc(list, func(v any) bool {
		name, _ := v.(string)
		return strings.Contains(name, p.model) || strings.Contains(p.model, name)
	})
}

// InWords lists, in lines below the one that is given, the settings that are not held and so break a promise.
func (p Person) InWords(line string) string {
	lines := []string{line}
	if line == "" {
		lines = nil
	}
	for _, u := range p.Undercuts() {
		switch {
		case u.ByAdmin:
			lines = append(lines, "your administrator's settings: "+u.String())
		case !u.Held || u.Instead != "":
			lines = append(lines, "your own settings: "+u.String())
		}
	}
	return strings.Join(lines, "\n")
}

func setting(name string, value any) string {
	return text.Line(text.Visible(fmt.Sprintf("%s %v", name, value)), text.MaxLine)
}

// Toolless reports whether agents lack the tools without which they cannot ask a person or report: by a rule, by the
// definition that they follow, or since claude connects no server of ours.
func (p Person) Toolless() bool {
	return p.agent.toolless || p.servers != "" || slices.ContainsFunc(p.sources, func(s source) bool {
		return slices.ContainsFunc(s.denied(), func(rule string) bool {
			return slices.ContainsFunc(needed(), func(tool string) bool { return covers(rule, tool) })
		})
	})
}

// ours are the settings that hold the promises of a run over these of the person.
func (p Person) ours() map[string]any {
	doc := map[string]any{}
	set(doc, env+"MCP_TOOL_TIMEOUT", strconv.Itoa(procs.ToolPatience))
	for _, s := range p.sources {
		for _, d := range decisions {
			if value, has := lookup(s.settings, d.name); has && d.ours != nil && d.hits(value) {
				set(doc, d.name, d.ours)
			}
		}
	}
	return doc
}

// denied are the rules of what never runs.
func (s source) denied() (rules []string) {
	value, _ := lookup(s.settings, "permissions.deny")
	list, _ := value.([]any)
	for _, v := range list {
		if rule, is := v.(string); is {
			rules = append(rules, rule)
		}
	}
	return rules
}

// deniesOurs reports whether a rule denies one of our tools.
func deniesOurs(rule string) bool {
	return slices.ContainsFunc(signals.Tools(), func(t signals.ServedTool) bool {
		return covers(rule, claude.ToolPrefix+t.Name)
	})
}

// covers reports whether a rule without a condition is about a tool. One about a server is about its tools.
func covers(rule, tool string) bool {
	if strings.HasSuffix(rule, ")") && !strings.HasSuffix(rule, "(*)") {
		return false // it is about some calls alone
	}
	name := toolOf(rule)
	matches, err := filepath.Match(name, tool)
	return err == nil && matches || strings.HasPrefix(tool, name+"__")
}

func toolOf(rule string) string {
	tool, _, _ := strings.Cut(rule, "(")
	return strings.TrimSpace(tool)
}

// lookup returns a member of a document by its name with dots.
func lookup(doc map[string]any, name string) (any, bool) {
	outer, inner, nested := strings.Cut(name, ".")
	value, has := doc[outer]
	if !nested || !has {
		return value, has
	}
	members, _ := value.(map[string]any)
	return lookup(members, inner)
}

// set sets a member of a document by its name with dots.
func set(doc map[string]any, name string, value any) {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		doc[outer] = value
		return
	}
	members, is := doc[outer].(map[string]any)
	if !is {
		members = map[string]any{}
		doc[outer] = members
	}
	set(members, inner, value)
}

// givenSettings are those that the person gives with --settings: a document, or a file of one.
func givenSettings(flags []string, cwd string) (map[string]any, error) {
	values := claude.FlagValues(flags, "--settings")
	if len(values) == 0 {
		return nil, nil
	}
	given := strings.TrimSpace(values[len(values)-1])
	doc, from := given, "your --settings"
	if !strings.HasPrefix(given, "{") {
		if !filepath.IsAbs(given) {
			given = filepath.Join(cwd, given)
		}
		data, err := os.ReadFile(given)
		if err != nil {
			return nil, fmt.Errorf("your --settings cannot be read: %w", err)
		}
		doc, from = string(data), given
	}
	var settings map[string]any
	if err := json.Unmarshal([]byte(doc), &settings); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object: %s", from, text.Misread(err))
	}
	return settings, nil
}
