package taskfile

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/conf"
)

// Parse reads a task file. Its error is a *yamlfile.Invalid with all that is wrong with it.
func Parse(text []byte) (File, error) {
	var f File
	r := reader{}
	if doc := r.Document(text); doc != nil {
		readKeys(&r, "a task file", doc, keys, &f)
		r.arrange()
		r.whole(doc, f)
	}
	if r.Lost {
		r.Problem(&yaml.Node{}, "`claude-supervise help run` lists the keys that there are")
	}
	return f, r.Err()
}

// ParseAnswers reads a file of answers given in advance, KEY: VALUE. Its error is a *yamlfile.Invalid.
func ParseAnswers(text []byte) ([]conf.Preset, error) {
	var answers []conf.Preset
	r := reader{}
	if doc := r.Document(text); doc != nil {
		answers = r.answers("a file of answers", doc)
	}
	return answers, r.Err()
}

// A reader reads a task file.
type reader struct {
	yamlfile.Reader
	stated []stated // the children, each after the one that it stands below
}

// answers reads a map of answers. Numbers and truth values are answers as they are written.
func (r *reader) answers(what string, n *yaml.Node) []conf.Preset {
	var answers []conf.Preset
	r.Pairs(what, n, func(k, v *yaml.Node) {
		tag := v.ShortTag()
		if v.Kind != yaml.ScalarNode || strings.TrimSpace(v.Value) == "" || tag != "!!str" && tag != "!!timestamp" &&
			!yamlfile.Plain(tag) {
			r.Problem(v, "the answer to %s must be text", yamlfile.Quoted(k.Value))
			return
		}
		answers = append(answers, conf.Preset{Key: strings.TrimSpace(k.Value), Value: v.Value})
	})
	return answers
}
