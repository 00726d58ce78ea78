package signals

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	yaml "go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// A member is one entry of an object, in whatever form it was written.
type member struct {
	name string
	line int
	node *yaml.Node
}

func (m member) text() string {
	if m.node == nil {
		return ""
	}
	return nodeText(m.node)
}

const (
	maxDepth     = 64       // levels of lists and maps in lines
	maxFlowDepth = 64       // levels of brackets and braces
	maxFlow      = 64 << 10 // bytes of brackets and braces that are read as YAML; what is longer stays text
)

var errDepth = fmt.Errorf("more than %d levels deep", maxFlowDepth)

// loadYAML reads one YAML value of at most so many levels. Aliases are not followed, here or by who reads the nodes, so
// a few lines cannot become many.
func loadYAML(text string, depth int) (*yaml.Node, error) {
	var doc yaml.Node
	err := yaml.Load([]byte(text), &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(depth))))
	if err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, errors.New("no value")
	}
	return doc.Content[0], nil
}

// objectMembers reads an object as JSON, or else without comments and typographic quotes, or else as YAML; then it
// returns the reason as well. With no members it is neither.
func objectMembers(text string) ([]member, error) {
	n, err := loadJSON(text)
	if err != nil {
		if len(text) > maxFlow {
			return nil, err
		}
		text = plainObject(text)
		var again error
		if n, again = loadJSON(text); again != nil {
			if n, again = loadYAML(text, maxFlowDepth); again != nil {
				return nil, err
			}
		}
	}
	return mapMembers(n), err
}

// loadJSON reads one JSON value. It keeps the order of members, doubled ones, and numbers as they were written, all
// of which a map would lose.
func loadJSON(text string) (*yaml.Node, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	n, err := jsonValue(dec, maxFlowDepth)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text after the value")
	}
	return n, nil
}

func jsonValue(dec *json.Decoder, depth int) (*yaml.Node, error) {
	if depth == 0 {
		return nil, errDepth
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(t)}, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}, nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if token == json.Delim('{') {
		n.Kind = yaml.MappingNode
	}
	for dec.More() {
		inner, err := jsonValue(dec, depth-1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, inner)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return n, nil
}

// mapMembers are the entries of a map, doubled ones included, and nil for anything else.
func mapMembers(n *yaml.Node) []member {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var ms []member
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		ms = append(ms, member{name: nodeText(key), line: key.Line, node: n.Content[i+1]})
	}
	return ms
}

// nodeText is a scalar as it was written, nothing for null, and lists and maps as YAML.
func nodeText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return ""
		}
		return cleanText(n.Value)
	case yaml.AliasNode:
		return "*" + cleanText(n.Value)
	}
	text, err := yaml.Dump(undressed(n), yaml.WithLineWidth(-1))
	if err != nil {
		return ""
	}
	return cleanText(string(text))
}

// undressed is a copy of the tree without the style it was written in, so that the same list written in another way
// reads the same. A scalar that was not quoted stays so: 3.10 and NO.
func undressed(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind}
	switch n.Kind {
	case yaml.ScalarNode:
		c.Value = cleanText(n.Value)
		if n.Style != 0 || n.Tag == "!!str" {
			c.Tag = "!!str"
		}
		if n.Tag == "!!null" {
			c.Value, c.Tag = "", "!!null"
		}
	case yaml.AliasNode:
		c.Kind, c.Value = yaml.ScalarNode, "*"+cleanText(n.Value)
	default:
		for _, inner := range n.Content {
			c.Content = append(c.Content, undressed(inner))
		}
	}
	return c
}
