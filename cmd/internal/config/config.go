// Package config reads the person's own defaults, $XDG_CONFIG_HOME/claude-supervise/config.yaml:
//
//	hold: 10m                # any of the flags of run that keys.go lists, as the flag takes it
//	max_cost_usd: 5
//	allow: [Bash(make test)] # beside those of the flags
//	plain: true
//
//	folders:                 # the same for runs in a folder, and below it
//	  ~/work/api: {max_cost_usd: 20, delegate: auto}
//
//	serve:
//	  folders: [~/work]      # where the page may start runs
//	  url: https://desk.example.org   # by which a phone reaches the page
//
// A flag goes before an environment variable (CLAUDE_SUPERVISE_HOLD, of every key but allow), and that before the file;
// of two folders the one further down counts. Nothing of a repository is read. Who could have written the file is
// trusted.go's.
package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/doctor"
)

//go:embed config.schema.json
var schema string

// networksHere stands in the schema where that of notify.Networks belongs.
const networksHere = `"networks": {},`

// Schema is the JSON Schema (draft 7) of the file, for editors.
func Schema() string {
	var networks strings.Builder
	for _, of := range notify.Networks {
		about := ""
		if of.AboutURL != "" {
			about = fmt.Sprintf(`"description": %q, `, of.AboutURL)
		}
		fmt.Fprintf(&networks, `%q: {
          "description": %q,
          "type": "object",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": { %s"$ref": "#/definitions/url" },
            %q: { "description": %q, "$ref": "#/definitions/path" }
          }
        },
        `, of.Name, of.About, about, of.Secret, of.AboutFile)
	}
	return strings.Replace(schema, networksHere, strings.TrimSpace(networks.String()), 1)
}

// A Config is what the person's own file says, and their environment. What neither says is the zero value.
type Config struct {
	Path    string // of the file; "" if there is none, and inside an agent, where none is read
	Serve   Serve
	Notify  Notify
	given   []Default // by the environment
	general []Default
	folders []folder
	home    string
}

// A Default is the value of a flag of run where the person gives none.
type Default struct {
	Flag, Value string
	From        string // the environment variable, or config.yaml with the line
}

// A folder has defaults of its own.
type folder struct {
	path     string // absolute
	defaults []Default
}

// Serve is what goes for the page.
type Serve struct {
	Folders []string // absolute: where it may start runs, there and below
	Hosts   []string
	Listen  string
	URL     string // by which it is reached from elsewhere; no slash at its end
}

// Notify says who is told of questions, and how runs end.
type Notify struct {
	Command     string              // as --notify takes it
	Receivers   map[string]Receiver // by the names of notify.Networks
	Permissions bool                // a button on the phone may permit
	Unmarked    bool                // the terminal's title and mark say nothing of questions
	// Delay is for how long a question may be answered before anybody is told of it, but for one that is urgent; Remind
	// after how long they are told again, once. 0: at once, and never.
	Delay, Remind time.Duration
	Gather        bool // who reads them has one notice of all that is open, in all runs
}

// A Receiver is where notices are sent.
type Receiver struct {
	URL    string
	Secret string // the file that holds the token or the key; absolute, "" for none
}

// Path is where the file is looked for; "" where that is not known, and inside an agent: what its processes set in
// their environment, or have written below a home of their own, is nobody's default. A run started there is work for
// the agent's own supervisor, which a person has started.
func Path(env []string) string {
	if _, inside := doctor.InsideAgent(env); inside {
		return ""
	}
	base := lookup(env, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := lookup(env, "HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "claude-supervise", "config.yaml")
}

// Folders are those in which the file is looked for: with this environment, and with one that does not say where.
func Folders(env []string) []string {
	var all []string
	for _, base := range []string{lookup(env, "XDG_CONFIG_HOME"), filepath.Join(lookup(env, "HOME"), ".config")} {
		if filepath.IsAbs(base) {
			all = append(all, filepath.Join(base, "claude-supervise"))
		}
	}
	return slices.Compact(all)
}

// lookup returns the value of a variable, the last if there are several.
func lookup(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Load reads the file and the environment, of NAME=VALUE. A file that is not there says nothing. An error says, with
// file and line, what is wrong; then nothing of it is in force.
func Load(env []string) (Config, error) {
	c := Config{home: lookup(env, "HOME")}
	path := Path(env)
	if path == "" {
		return c, nil
	}
	if err := c.environment(env); err != nil {
		return Config{}, err
	}
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		c.Path = path
		err = c.parse(text)
	}
	if err != nil {
		c = Config{}
		return c, fmt.Errorf("%s cannot be used; nothing was done\n  %s", path,
			strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return c, nil
}

// environment reads what the environment says.
func (c *Config) environment(env []string) error {
	for _, k := range keys {
		name := "CLAUDE_SUPERVISE_" + strings.ToUpper(k.name)
		value := lookup(env, name)
		switch {
		case value == "", k.name == "allow":
			continue
		case k.name != "claude": // which may be a name to be found on PATH
			var r yamlfile.Reader
			value = k.read(&r, name, yamlfile.Scalar(value))
			if err := r.Err(); err != nil {
				return fmt.Errorf("%w; nothing was done", err)
			}
		}
		c.given = append(c.given, Default{Flag: k.flag(), Value: value, From: name})
	}
	return nil
}

// Flags are those of run that have defaults here, in alphabetical order.
func Flags() []string {
	flags := make([]string, len(keys))
	for i, k := range keys {
		flags[i] = k.flag()
	}
	return flags
}

// Others returns what the file says beside the defaults of runs, for people. Secrets are not shown: the file names
// files.
func (c Config) Others() []Default {
	var all []Default
	said := []struct{ name, value string }{
		{"serve.folders", strings.Join(c.Serve.Folders, ", ")}, {"serve.host", strings.Join(c.Serve.Hosts, ", ")},
		{"serve.listen", c.Serve.Listen}, {"serve.url", c.Serve.URL}, {"notify.command", c.Notify.Command},
	}
	for _, of := range notify.Networks {
		said = append(said, struct{ name, value string }{"notify." + of.Name, c.Notify.Receivers[of.Name].URL})
	}
	for _, o := range said {
		if o.value != "" {
			all = append(all, Default{Flag: o.name, Value: o.value, From: "config.yaml"})
		}
	}
	if c.Notify.Permissions {
		all = append(all, Default{Flag: "notify.permissions", Value: "true", From: "config.yaml"})
	}
	if c.Notify.Unmarked {
		all = append(all, Default{Flag: "notify.terminal", Value: "false", From: "config.yaml"})
	}
	return all
}

// For returns the defaults of a run in a folder, which must exist: one of each flag, but several of allow. It is an
// error if the file lies where the agents of that run write.
func (c Config) For(cwd string) ([]Default, error) {
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return nil, fmt.Errorf("the folder to work in is not known: %w", err)
	}
	if err := c.outside(real); err != nil {
		return nil, err
	}
	matching := []folder{}
	for _, f := range c.folders {
		if at, err := filepath.EvalSymlinks(f.path); err == nil && Within(real, at) {
			matching = append(matching, folder{path: at, defaults: f.defaults})
		}
	}
	slices.SortStableFunc(matching, func(a, b folder) int { return len(a.path) - len(b.path) })
	all := slices.Clone(c.general)
	for _, f := range matching {
		all = append(all, f.defaults...)
	}
	var found []Default
	for _, d := range append(all, c.given...) {
		if d.Flag != "allow" {
			found = slices.DeleteFunc(found, func(other Default) bool { return other.Flag == d.Flag })
		}
		found = append(found, d)
	}
	return found, nil
}

// Within reports whether a path is a folder or lies below it. Both are absolute and clean.
func Within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(os.PathSeparator))+"/")
}
