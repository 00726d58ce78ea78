package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"claude-supervise/procs"
)

// loginName is the name of the finding of how claude is known to the API.
const loginName = "login"

// login says by what claude will be known to the API, as far as that is seen without a request: whether it is valid is
// not. folder is Claude Code's own. Nothing of what is found is shown but its name.
func login(env []string, folder string) Finding {
	f := Finding{Name: loginName, OK: true}
	var settings struct {
		Helper string            `json:"apiKeyHelper"`
		Env    map[string]string `json:"env"`
	}
	if written, err := os.ReadFile(filepath.Join(folder, "settings.json")); err == nil {
		_ = json.Unmarshal(written, &settings) // what is wrong with it the finding of settings says
	}
	for _, by := range []struct{ variable, about string }{
		{"CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"}, {"CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"},
		{"CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"}, {"ANTHROPIC_AUTH_TOKEN", "a token"},
		{"ANTHROPIC_API_KEY", "a key"}, {"CLAUDE_CODE_OAUTH_TOKEN", "a login"},
	} {
		switch value := procs.Lookup(env, by.variable); {
		case value != "" && value != "0" && value != "false":
			f.Text = by.about + " (" + by.variable + "); not tried"
			return f
		case settings.Env[by.variable] != "":
			f.Text = by.about + " (" + by.variable + " in your settings); not tried"
			return f
		}
	}
	info, err := os.Stat(filepath.Join(folder, ".credentials.json"))
	switch {
	case settings.Helper != "":
		f.Text = "a key (apiKeyHelper in your settings); not tried"
	case err == nil && info.Size() > 0:
		f.Text = "a login (" + filepath.Join(folder, ".credentials.json") + "); not tried"
	case runtime.GOOS == "darwin":
		f.Text = "no key is set; a login is in the keychain, where it is not looked for"
	default:
		f.Lacks, f.Text = true, "none found: start claude and type /login, or set ANTHROPIC_API_KEY"
	}
	return f
}
