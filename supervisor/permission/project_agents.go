package permission

import (
	"claude-supervise/supervisor/text"

	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// An agent that a folder defines (.claude/agents) may bring hooks and MCP servers, which are programs, and a permission
// mode. So what is handed over (--agents) has the members below alone, with values that claude is known to take: newer
// releases end at once at one that they do not take, and older ones drop all agents.
//
// Its tools are the ones that it may ask for.

// handed are the members of an agent that are handed over. Each returns the value as --agents has it, or nil.
var handed = map[string]func(any) any{
	"description":     textOf(maxDefinition),
	"tools":           toolList,
	"disallowedTools": toolList,
	"model":           textOf(100),
	"maxTurns":        wholeNumber,
	"background":      yesOrNo,
	"effort":          oneOf("low", "medium", "high", "xhigh", "max"),
	"isolation":       oneOf("worktree"),
	"memory":          oneOf("user", "project", "local"),
	"color":           oneOf("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"),
}

// The bounds of what is read of the agents of a folder: how many files there are in it, and the bytes of each.
const (
	maxDefinitions = 500
	maxDefinition  = 64 << 10

	maxDefinitionDepth = 32 // levels of lists and maps
)

var errDefinition = errors.New("it can be read in several ways")

// agentName is what an agent's name may be: it stands in calls, and in what a person is shown.
var agentName = text.Lazily(`^[A-Za-z0-9][A-Za-z0-9_:.-]*$`)

const maxAgentName = 64

// readAgents reads the agents that claude would take: of the folder, of those above it in its checkout, and of the main
// one. Of two with one name the nearest counts.
func (p *InFolder) readAgents(f ProjectFolder, repo checkout) {
	dirs := []string{f.Cwd}
	if repo.root != "" {
		for _, dir := range withAbove(f.Cwd) {
			if dir != f.Cwd {
				dirs = append(dirs, dir)
			}
			if dir == repo.root {
				break
			}
		}
		dirs = append(dirs, repo.main)
	}
	for _, dir := range uniq(dirs) {
		claude := filepath.Join(dir, ".claude")
		if f.isPersons(claude) {
			continue
		}
		switch agents := filepath.Join(claude, "agents"); {
		case leadsOut(dir, agents):
			p.lost = append(p.lost, "agents that lead out of their folder")
		default:
			p.definitions(agents)
		}
	}
}

// definitions reads the agents that a folder defines.
func (p *InFolder) definitions(dir string) {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return err
		case seen > maxDefinitions, entry.Type()&fs.ModeSymlink != 0: // a link may lead to a folder of more
			p.lost = append(p.lost, "agents that cannot be read")
			return fs.SkipAll
		case !entry.IsDir() && strings.EqualFold(filepath.Ext(path), ".md"):
			p.definition(path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.lost = append(p.lost, "agents that cannot be read")
	}
}

func (p *InFolder) definition(path string) {
	doc, err := readText(path, maxDefinition)
	var members map[string]any
	var body string
	if err == nil {
		members, body, err = frontMatter(doc)
	}
	name, named := members["name"].(string)
	switch {
	case err != nil:
		p.lost = append(p.lost, "an agent that cannot be read")
		return
	case len(members) == 0:
		return // a text that defines no agent
	case !named || len(name) > maxAgentName || !agentName().MatchString(name):
		p.lost = append(p.lost, "an agent without a name")
		return
	case p.agents[name] != nil:
		return
	}
	agent := map[string]any{"prompt": strings.TrimSpace(body)}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		var value any
		if take := handed[member]; take != nil {
			value = take(members[member])
		}
		if value != nil {
			agent[member] = value
		} else if member != "name" {
			p.lost = append(p.lost, member+" of the agent "+name)
		}
	}
	if agent["description"] == nil || agent["prompt"] == "" {
		p.lost = append(p.lost, "the agent "+name+" without a description or text")
		return
	}
	p.agents[name] = agent
}

func textOf(longest int) func(any) any {
	return func(v any) any {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && len(s) <= longest {
			return s
		}
		return nil
	}
}

func oneOf(values ...string) func(any) any {
	return func(v any) any {
		if s, ok := v.(string); ok && slices.Contains(values, s) {
			return s
		}
		return nil
	}
}

func yesOrNo(v any) any {
	if b, ok := v.(bool); ok {
		return b
	}
	return nil
}

func wholeNumber(v any) any {
	if n, ok := v.(int); ok && n > 0 && n < 1e6 {
		return n
	}
	return nil
}

// toolList takes the names of tools as a list, or between commas.
func toolList(v any) any {
	var names []string
	switch v := v.(type) {
	case string:
		names = strings.Split(v, ",")
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil
			}
			names = append(names, s)
		}
	default:
		return nil
	}
	for i := range names {
		if names[i] = strings.TrimSpace(names[i]); names[i] == "" {
			return nil
		}
	}
	return names
}

// frontMatter returns the members of the YAML that stands between two lines of --- at the top of a text, and what
// follows; no members if nothing stands there. It fails where another reader might see other members.
func frontMatter(doc string) (members map[string]any, body string, err error) {
	doc = strings.TrimLeft(strings.TrimPrefix(doc, "\ufeff"), " \t\r\n")
	if !strings.HasPrefix(doc, "---") {
		return nil, doc, nil
	}
	first, rest, _ := strings.Cut(doc, "\n")
	var head strings.Builder
	for rest != "" {
		var line string
		if line, rest, _ = strings.Cut(rest, "\n"); strings.TrimRight(line, " \t\r") == "---" {
			break
		}
		head.WriteString(line + "\n")
	}
	if strings.Contains(head.String(), "---") || len(strings.Trim(first, "- \t\r")) > 0 {
		return nil, "", errDefinition
	}
	if strings.TrimSpace(head.String()) == "" {
		return nil, rest, nil
	}
	if yaml.Load([]byte(head.String()), &members,
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDefinitionDepth)))) != nil {
		members, err = memberLines(head.String())
	}
	return members, rest, err
}

var memberLine = text.Lazily(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$`)

// memberLines returns the members of what is YAML but for a value that ought to stand in quotes, as claude takes it:
// descriptions with colons are common. A value is the text of its first line.
func memberLines(head string) (map[string]any, error) {
	members := map[string]any{}
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' || len(members) > 0 && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		member := memberLine().FindStringSubmatch(line)
		if member == nil {
			return nil, errDefinition
		}
		members[member[1]] = member[2]
	}
	return members, nil
}
