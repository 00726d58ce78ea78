package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// memoryLinks are the ways by which a repository could have a file of the person's sent to the model, each with whether
// bare claude sends it.
var memoryLinks = map[string]struct {
	link, to string
	bare     bool
}{
	"CLAUDE.md":         {"CLAUDE.md", "HOME/.aws/credentials", true},
	"CLAUDE.local.md":   {"CLAUDE.local.md", "HOME/.aws/credentials", true},
	".claude/CLAUDE.md": {".claude/CLAUDE.md", "HOME/.aws/credentials", true},
	".claude":           {".claude", "HOME/.aws", true},
	"CLAUDE.md above":   {"../CLAUDE.md", "HOME/.aws/credentials", true},
	"an agent":          {".claude/agents", "HOME/.aws", true},
	"a rule":            {".claude/rules/a.md", "HOME/.aws/credentials", false},
	"an import":         {"in.md", "HOME/.aws/credentials", false},
}

// sent reports whether a text was sent to the model, in whatever part of a conversation.
func sent(api *messagesapi.API, text string) bool {
	return slices.ContainsFunc(api.Requests(), func(r messagesapi.Request) bool {
		return slices.ContainsFunc(r.Conversation, func(m examples.Message) bool {
			return slices.ContainsFunc(m.Texts, func(t string) bool { return strings.Contains(t, text) })
		})
	})
}

// No file of the person's is sent to the model by a link of a repository; what a repository has itself is.
func TestNoFileOfThePersonsIsSentByALinkOfARepository(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	const secret, own, imported = "aws-secret-parsnip", "own-parsnip", "imported-parsnip"
	for name, l := range memoryLinks {
		if !everyAttack && !sample.Has("link "+name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lay := func(s *site) {
				if name == "CLAUDE.md above" {
					s.below("sub")
				}
				s.put("imported.md", imported)
				s.put(s.Home+"/.aws/credentials", secret)
				s.put(s.Home+"/.aws/CLAUDE.md", secret)
				s.put(s.Home+"/.aws/a.md", "---\nname: a\ndescription: "+secret+"\n---\nYou help.\n")
				path := filepath.Join(s.Cwd, l.link)
				if l.link != "CLAUDE.md" {
					s.put("CLAUDE.md", own+" @imported.md @in.md @~/.aws/credentials @"+s.Home+"/.aws/credentials\n")
				}
				noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				noError(t, os.Symlink(strings.ReplaceAll(l.to, "HOME", s.Home), path))
			}
			a := attack{lay: lay}
			if sent := sent(a.bareSite(t, program).API, secret); sent != l.bare {
				t.Errorf("bare claude sends it: %v", sent)
			}
			s := newSite(t)
			lay(s)
			s.real(examples.Scenario{Name: "memory", Prompt: "Go.\nDone when: gone.", Turns: []examples.Turn{
				{When: "## YOUR TASK", Replies: s.filled(nil)},
			}}, nil)
			_, _, stderr := s.run(append([]string{"run", "--check", "off", "--retries", "0"}, s.agent...)...)
			if sent(s.API, secret) {
				t.Error("a run sends it")
			}
			if l.link != "CLAUDE.md" && (!sent(s.API, own) || !sent(s.API, imported)) {
				t.Error("the repository's own is not sent")
			}
			if name != "an import" && !strings.Contains(stderr, "out of its folder") &&
				!strings.Contains(stderr, "out of their folder") {
				t.Errorf("the person is told %s", stderr)
			}
		})
	}
}

// Claude attaches each file that a message mentions, and asks nobody. Of what we send much was written by agents.
func TestNoMessageAttachesAFileOfThePersons(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	const secret, own = "aws-secret-parsnip", "own-parsnip"
	for name, mention := range map[string]string{"home": "@~/.aws/credentials", "absolute": "@HOME/.aws/credentials",
		"above": "@../BESIDE/.aws/credentials", "link": "@link", "quoted": `@"~/.aws/credentials"`} {
		if !everyAttack && !sample.Has("mention "+name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lay := func(s *site) (prompt string) {
				s.put(s.Home+"/.aws/credentials", secret)
				s.put("own.md", own)
				noError(t, os.Symlink(s.Home+"/.aws/credentials", filepath.Join(s.Cwd, "link")))
				return "See @own.md and " + s.named(mention) + "\n"
			}
			a := attack{prompt: "## ATTACK " + mention, lay: func(s *site) { lay(s) }}
			if !sent(a.bareSite(t, program).API, secret) {
				t.Error("bare claude does not attach it")
			}
			s := newSite(t)
			prompt := lay(s)
			s.real(examples.Scenario{Name: "mention", Prompt: prompt, Turns: []examples.Turn{
				{When: "## YOUR TASK", Replies: s.filled(nil)},
			}}, nil)
			s.run(append([]string{"run", "--check", "off", "--retries", "0"}, s.agent...)...)
			if sent(s.API, secret) || !sent(s.API, own) {
				t.Errorf("a run attaches it: %v, and the folder's own: %v", sent(s.API, secret), sent(s.API, own))
			}
		})
	}
}
