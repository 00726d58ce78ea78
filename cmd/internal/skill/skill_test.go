package skill

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// older is a text of ours as an earlier release would have written it.
func older(body, more string) string { return body + seal(body, more) + "\n" }

func put(t *testing.T, p Part, text string) (string, Standing) {
	t.Helper()
	next, standing, err := p.Put(text)
	if err != nil {
		t.Fatalf("put into %q: %v", text, err)
	}
	return next, standing
}

func take(t *testing.T, p Part, text string) (string, Standing) {
	t.Helper()
	next, standing, err := p.Take(text)
	if err != nil {
		t.Fatalf("take out of %q: %v", text, err)
	}
	return next, standing
}

func TestTheSkillHasTheFrontMatterOfItsForm(t *testing.T) {
	text, _ := put(t, Skill, "")
	parts := strings.SplitN(text, "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("no front matter in %.80q", text)
	}
	var front struct {
		Invocable    *bool  `yaml:"user-invocable"`
		Name         string `yaml:"name"`
		Version      string `yaml:"version"`
		Author       string `yaml:"author"`
		Description  string `yaml:"description"`
		Tags         []string
		Portability  string
		Dependencies []string
	}
	d := yaml.NewDecoder(strings.NewReader(parts[1]))
	d.KnownFields(true)
	if err := d.Decode(&front); err != nil {
		t.Fatal(err)
	}
	if front.Name != "claude-supervise" || front.Invocable == nil || *front.Invocable || front.Version == "" ||
		len(front.Tags) == 0 {
		t.Errorf("front matter is %+v", front)
	}
	if n := len(front.Description); n == 0 || n > 1024 { // the most that Claude Code takes
		t.Errorf("a description of %d characters", n)
	}
	if n := strings.Count(text, "\n"); n >= 150 {
		t.Errorf("the skill has %d lines", n)
	}
}

func TestEveryLineOfTheTextsFits80Columns(t *testing.T) {
	_, body, _ := strings.Cut(strings.TrimPrefix(skillText, "---\n"), "\n---\n")
	for _, text := range []string{body, sectionText} {
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestTheSkillKnowsItsOwnTextAnEarlierOneAnEditedOneAndAnothers(t *testing.T) {
	current, _ := put(t, Skill, "")
	for name, c := range map[string]struct {
		text string
		want Standing
		gone bool // taken out, nothing is left
	}{
		"nothing":             {"", Absent, true},
		"ours":                {current, Current, true},
		"ours with CRLF":      {strings.ReplaceAll(current, "\n", "\r\n"), Current, true},
		"an earlier one":      {older("---\nname: claude-supervise\n---\n# Ask\n", ""), Older, true},
		"ours with an edit":   {strings.Replace(current, "# Asking", "# Not asking", 1), Edited, true},
		"ours with an end":    {current + "And one more thing.\n", Edited, true},
		"another's":           {"---\nname: mine\n---\n", Foreign, false},
		"with a broken seal":  {strings.Replace(current, "; seal ", "; seal x", 1), Foreign, false},
		"the seal of another": {older("one\n", "") + older("two\n", ""), Edited, true},
	} {
		t.Run(name, func(t *testing.T) {
			next, standing := put(t, Skill, c.text)
			if standing != c.want {
				t.Errorf("standing is %d, want %d", standing, c.want)
			}
			if unix(next) != current {
				t.Errorf("put gives another text: %.60q", next)
			}
			if c.want == Current && next != c.text {
				t.Errorf("a current text is changed")
			}
			left, _ := take(t, Skill, c.text)
			if gone := left == ""; gone != c.gone || !gone && left != c.text {
				t.Errorf("taken out, %.60q is left", left)
			}
		})
	}
}
