package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALoginIsFoundWithoutARequestAndNotShown(t *testing.T) {
	for name, c := range map[string]struct {
		env         []string
		file, holds string
		want        string
	}{
		"a key":               {[]string{"ANTHROPIC_API_KEY=sk-secret"}, "", "", "a key (ANTHROPIC_API_KEY)"},
		"an empty key":        {[]string{"ANTHROPIC_API_KEY="}, ".credentials.json", "secret", "a login ("},
		"Bedrock":             {[]string{"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=secret"}, "", "", "Amazon Bedrock"},
		"Bedrock is off":      {[]string{"CLAUDE_CODE_USE_BEDROCK=0", "ANTHROPIC_API_KEY=secret"}, "", "", "a key"},
		"Vertex, by settings": {nil, "settings.json", `{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}`, "Google Vertex AI"},
		"a helper":            {nil, "settings.json", `{"apiKeyHelper": "print secret"}`, "apiKeyHelper in your settings"},
	} {
		folder := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.holds), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := login(c.env, folder)
		if !f.OK || f.Lacks || !strings.Contains(f.Text, c.want) || strings.Contains(f.Text, "secret") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
