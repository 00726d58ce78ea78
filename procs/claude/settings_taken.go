package claude

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claude-supervise/procs"
)

// settingsPatience is how long a claude has to say which settings it takes.
const settingsPatience = time.Minute

// takenSettings remembers what TakesSettings has found: an errSettings by program and document.
var takenSettings sync.Map

type errSettings struct{ error }

// TakesSettings asks a claude whether it takes a document of settings: a single member with a value that it does not
// take voids all of them, without a word. It asks a process of its own, which has no conversation, reads nothing of the
// person's and runs none of the hooks that the document names, and blocks for as long as that takes. The error says
// what is not taken. A release that does not tell (before 2.1.100) is believed to take all.
func TakesSettings(ctx context.Context, path string, env []string, doc map[string]any) error {
	doc["disableAllHooks"] = true
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	key := sha256.Sum256(slices.Concat([]byte(path), []byte{0}, data))
	if known, has := takenSettings.Load(key); has {
		return known.(errSettings).error
	}
	said, err := askSettings(ctx, path, env, data)
	if err != nil || said == nil {
		return err
	}
	if !slices.ContainsFunc(said.Sources, func(s settingsSource) bool { return s.Source == "flagSettings" }) {
		err = errors.New(said.why())
	}
	takenSettings.Store(key, errSettings{err})
	return err
}

// settingsSaid is what the CLI says of its settings (get_settings).
type settingsSaid struct {
	Sources []settingsSource `json:"sources"`
	Errors  []struct {
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"errors"`
}

type settingsSource struct {
	Source string `json:"source"`
}

func (s settingsSaid) why() string {
	var all []string
	for _, e := range s.Errors {
		all = append(all, e.Path+": "+e.Message)
	}
	if len(all) == 0 {
		return "claude does not say why"
	}
	return procs.Cut(strings.Join(all, "; "), procs.MaxShown)
}

// askSettings starts the CLI with a document and nothing else; nil if it does not tell.
func askSettings(ctx context.Context, path string, env []string, doc []byte) (*settingsSaid, error) {
	dir, err := os.MkdirTemp("", "claude-supervise-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, settingsPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, slices.Concat(required,
		[]string{"--setting-sources", "project", "--strict-mcp-config", "--settings=" + file})...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(procs.Cleaned(env), "CLAUDE_CONFIG_DIR="+dir), time.Second
	cmd.Stdin = strings.NewReader(`{"type":"control_request","request_id":"settings",` +
		`"request":{"subtype":"get_settings"}}` + "\n")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	_ = err // whoever cannot start at all says so when the agent is started
	for line := range bytes.Lines(out) {
		var m struct {
			Response struct {
				Response settingsSaid `json:"response"`
			} `json:"response"`
		}
		if json.Unmarshal(line, &m) == nil && m.Response.Response.Sources != nil {
			return &m.Response.Response, nil
		}
	}
	return nil, nil
}
