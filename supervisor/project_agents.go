package supervisor

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// An agent that a folder defines (.claude/agents) may bring hooks and MCP servers, which are programs: in a trusted folder they
// run as soon as the model starts such a subagent, on all measured releases, and a hook permits what it likes. A skill or
// command of a folder brings such things, too, but claude asks before it uses one that does.

// plainMembers are those of an agent's definition that neither permit nor run anything. Its tools are the ones that it may ask
// for.
var plainMembers = []string{
	"name", "description", "tools", "disallowedTools", "model", "color", "effort", "maxTurns", "background", "memory", "isolation",
}

// The bounds of what is read of the agents of a folder: how many files there are in it, and the bytes of each.
const (
	maxDefinitions = 500
	maxDefinition  = 64 << 10

	maxDefinitionDepth = 32 // levels of lists and maps
)

var errDefinition = errors.New("it can be read in several ways")

// definitions looks at the agents that a folder defines.
func (p *projectFiles) definitions(dir string) {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return err
		case seen > maxDefinitions, entry.Type()&fs.ModeSymlink != 0: // a link may lead to a folder of more
			p.more = append(p.more, "agents that cannot be read")
			return fs.SkipAll
		case !entry.IsDir() && strings.EqualFold(filepath.Ext(path), ".md"):
			p.definition(path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.more = append(p.more, "agents that cannot be read")
	}
}

func (p *projectFiles) definition(path string) {
	text, err := readText(path, maxDefinition)
	if err == nil {
		var members []string
		if members, err = frontMatter([]byte(text)); err == nil {
			for _, name := range members {
				if !slices.Contains(plainMembers, name) {
					p.more = append(p.more, name+" of the agent "+strings.TrimSuffix(filepath.Base(path), ".md"))
				}
			}
			return
		}
	}
	p.more = append(p.more, "an agent that cannot be read")
}

// frontMatter gives the names of the members of the YAML that stands between two lines of --- at the top of a text; none if
// nothing does. It fails where another reader might see other members.
func frontMatter(text []byte) ([]string, error) {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("---")) {
		return nil, nil
	}
	first, text, _ := bytes.Cut(text, []byte("\n"))
	var head []byte
	for len(text) > 0 {
		var line []byte
		if line, text, _ = bytes.Cut(text, []byte("\n")); bytes.Equal(bytes.TrimRight(line, " \t\r"), []byte("---")) {
			break
		}
		head = append(append(head, line...), '\n')
	}
	if bytes.Contains(head, []byte("---")) || len(bytes.Trim(first, "- \t\r")) > 0 {
		return nil, errDefinition
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, nil
	}
	var doc yaml.Node // aliases stay what they are
	if yaml.Load(head, &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDefinitionDepth)))) != nil {
		return memberLines(head)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errDefinition
	}
	var members []string
	for i := 0; i < len(doc.Content[0].Content); i += 2 {
		members = append(members, doc.Content[0].Content[i].Value)
	}
	return members, nil
}

var memberLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]|$)`)

// memberLines gives the members of what is YAML but for a value that ought to stand in quotes, as claude takes it: descriptions
// with colons are common.
func memberLines(head []byte) ([]string, error) {
	var members []string
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' || len(members) > 0 && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		member := memberLine.FindSubmatch(line)
		if member == nil {
			return nil, errDefinition
		}
		members = append(members, string(member[1]))
	}
	return members, nil
}
