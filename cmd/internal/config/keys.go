package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// A key is that of a flag of run. config.schema.json says the same for editors; a test holds the two together.
type key struct {
	name string
	read func(r *yamlfile.Reader, name string, n *yaml.Node) string // the value as the flag takes it
}

func (k key) flag() string { return strings.ReplaceAll(k.name, "_", "-") }

// keys are those of the defaults of runs. Of what makes a run another one (prompt, file, continue) there is no default,
// nor of what trusts files that others write (allow: project, task).
var keys = []key{
	{"allow", nil}, // several; read by defaults
	{"check", oneOf("off", "warn", "ask", "require")},
	{"claude", func(r *yamlfile.Reader, name string, n *yaml.Node) string {
		return r.Checked(name, n, func(text string) error {
			if !filepath.IsAbs(text) {
				return fmt.Errorf("takes an absolute path, not %q", text)
			}
			return nil
		})
	}},
	{"delegate", checked(func(text string) error { _, err := conf.ParseDelegates(text); return err })},
	{"hold", func(r *yamlfile.Reader, name string, n *yaml.Node) string { return r.Hold(name, n) }},
	{"keep_processes", truth},
	{"max_agents", whole},
	{"max_cost_usd", func(r *yamlfile.Reader, name string, n *yaml.Node) string {
		return strconv.FormatFloat(r.Amount(name, n), 'f', -1, 64)
	}},
	{"max_depth", whole},
	{"max_held", whole},
	{"max_parallel", whole},
	{"max_time", checked(func(text string) error { _, err := questions.ParseBudgetTime(text); return err })},
	{"max_tokens", func(r *yamlfile.Reader, name string, n *yaml.Node) string {
		return strconv.FormatInt(r.Tokens(name, n), 10)
	}},
	{"max_turns", whole},
	{"model", func(r *yamlfile.Reader, name string, n *yaml.Node) string { return r.Model(name, n) }},
	{"on_question", oneOf("ask", "park", "fail")},
	{"on_silence", oneOf("tell", "retry", "fail")},
	{"permissions", oneOf("ask", "ask-refused", "deny")},
	{"plain", truth},
	{"quiet", truth},
	{"relaunch", oneOf("resume", "fresh")},
	{"retries", whole},
	{"silent_after", checked(func(text string) error {
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			return fmt.Errorf("takes a duration such as 90s, 10m or 2h, not %q", text)
		}
		return nil
	})},
	{"worktree", truth},
}

func oneOf(words ...string) func(*yamlfile.Reader, string, *yaml.Node) string {
	return func(r *yamlfile.Reader, name string, n *yaml.Node) string { return r.OneOf(name, n, words...) }
}

func checked(check func(string) error) func(*yamlfile.Reader, string, *yaml.Node) string {
	return func(r *yamlfile.Reader, name string, n *yaml.Node) string { return r.Checked(name, n, check) }
}

func truth(r *yamlfile.Reader, name string, n *yaml.Node) string {
	return strconv.FormatBool(r.Truth(name, n))
}

// whole reads a whole number from 0.
func whole(r *yamlfile.Reader, name string, n *yaml.Node) string {
	if n.ShortTag() == "!!int" && n.Value == "0" {
		return n.Value
	}
	return strconv.Itoa(r.Count(name, n))
}

// A reader reads the file of a config.
type reader struct {
	yamlfile.Reader
	to *Config
}

// parse reads the text of the file into the config. The error is a *yamlfile.Invalid.
func (c *Config) parse(text []byte) error {
	r := reader{to: c}
	if doc := r.Optional(text); doc != nil {
		r.defaults("config.yaml", doc, &c.general, map[string]func(string, *yaml.Node){
			"folders": r.folders, "serve": r.serve, "notify": r.notify,
		})
	}
	if r.Lost {
		r.Problem(&yaml.Node{}, "`claude-supervise doctor --config-schema` prints the keys that there are")
	}
	return r.Err()
}

// defaults reads a map of defaults, in which there may be other keys, too.
func (r *reader) defaults(what string, n *yaml.Node, to *[]Default, others map[string]func(string, *yaml.Node)) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for name := range others {
		names = append(names, name)
	}
	r.Pairs(what, n, func(k, v *yaml.Node) {
		i := slices.IndexFunc(keys, func(known key) bool { return known.name == k.Value })
		add := func(value string) {
			*to = append(*to, Default{Flag: keys[i].flag(), Value: value, From: fmt.Sprintf("config.yaml:%d", k.Line)})
		}
		switch read := others[k.Value]; {
		case read != nil:
			read(k.Value, v)
		case i < 0:
			r.Unknown(k, names)
		case k.Value == "allow":
			for _, rule := range r.List(k.Value, v, r.rule) {
				add(rule)
			}
		default:
			add(keys[i].read(&r.Reader, k.Value, v))
		}
	})
}

// rule reads a rule of what runs. What --allow takes beside rules trusts files that others write.
func (r *reader) rule(name string, n *yaml.Node) string {
	if n.Value == "project" || n.Value == "task" || n.Value == "sessions" {
		r.Problem(n, "%s takes a rule; %[2]s is given for one run: --allow %[2]s", name, n.Value)
		return ""
	}
	return r.Rule(name, n)
}

// part reads a map of these keys alone.
func (r *reader) part(what string, n *yaml.Node, keys map[string]func(string, *yaml.Node)) {
	r.Pairs(what, n, func(k, v *yaml.Node) {
		if read := keys[k.Value]; read != nil {
			read(what+"."+k.Value, v)
			return
		}
		var names []string
		for name := range keys {
			names = append(names, name)
		}
		slices.Sort(names)
		r.Unknown(k, names)
	})
}

func (r *reader) folders(name string, n *yaml.Node) {
	r.Pairs(name, n, func(k, v *yaml.Node) {
		f := folder{path: r.path("a folder", k)}
		r.defaults("the folder "+yamlfile.Quoted(k.Value), v, &f.defaults, nil)
		r.to.folders = append(r.to.folders, f)
	})
}

func (r *reader) serve(name string, n *yaml.Node) {
	to := &r.to.Serve
	r.part(name, n, map[string]func(string, *yaml.Node){
		"folders": func(name string, n *yaml.Node) { to.Folders = r.List(name, n, r.path) },
		"host": func(name string, n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				to.Hosts = []string{r.Line(name, n)}
				return
			}
			to.Hosts = r.List(name, n, r.Line)
		},
		"listen": func(name string, n *yaml.Node) { to.Listen = r.Line(name, n) },
		"url": func(name string, n *yaml.Node) {
			to.URL = strings.TrimSuffix(r.Checked(name, n, checkPage), "/")
		},
	})
}

func (r *reader) notify(name string, n *yaml.Node) {
	to := &r.to.Notify
	keys := map[string]func(string, *yaml.Node){
		"command":     func(name string, n *yaml.Node) { to.Command = r.Line(name, n) },
		"permissions": func(name string, n *yaml.Node) { to.Permissions = r.Truth(name, n) },
		"terminal":    func(name string, n *yaml.Node) { to.Unmarked = !r.Truth(name, n) },
		"delay":       func(name string, n *yaml.Node) { to.Delay = r.Duration(name, n) },
		"gather":      func(name string, n *yaml.Node) { to.Gather = r.Truth(name, n) },
		"remind":      func(name string, n *yaml.Node) { to.Remind = r.Duration(name, n) },
	}
	for _, of := range notify.Networks {
		keys[of.Name] = func(name string, n *yaml.Node) {
			if to.Receivers == nil {
				to.Receivers = map[string]Receiver{}
			}
			to.Receivers[of.Name] = r.receiver(name, n, of.Secret)
		}
	}
	r.part(name, n, keys)
}

func (r *reader) receiver(name string, n *yaml.Node, secret string) (to Receiver) {
	r.part(name, n, map[string]func(string, *yaml.Node){
		"url":  func(name string, n *yaml.Node) { to.URL = r.Checked(name, n, CheckURL) },
		secret: func(name string, n *yaml.Node) { to.Secret = r.path(name, n) },
	})
	if to.URL == "" && n.Kind == yaml.MappingNode && len(r.Problems) == 0 {
		r.Problem(n, "%s has no url", name)
	}
	return to
}

// path reads an absolute path, or one below ~.
func (r *reader) path(name string, n *yaml.Node) string {
	path := r.Line(name, n)
	if rest, below := strings.CutPrefix(path, "~"); below && (rest == "" || rest[0] == '/') {
		path = filepath.Join(r.to.home, rest)
	}
	if path != "" && !filepath.IsAbs(path) {
		r.Problem(n, "%s takes an absolute path, or one that begins with ~/, not %s", name, yamlfile.Quoted(n.Value))
		return ""
	}
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}

// checkPage is CheckURL for the page, whose own addresses begin at the root: below a path of a proxy's its links and
// its buttons on phones would lead nowhere.
func checkPage(text string) error {
	if err := CheckURL(text); err != nil {
		return err
	}
	if u, err := url.Parse(text); err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("takes an address without a path: have the proxy serve the page under a name of its own, such as " +
			"https://agents.example.org")
	}
	return nil
}

// CheckURL says why an address is none that secrets may be sent to: one of http beyond this machine can be read on the
// way, and what stands before an @ is seen by all.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return fmt.Errorf("takes an address such as https://example.org/path, not %q", text)
	case u.User != nil:
		return fmt.Errorf("takes no name or password: keep them in a file")
	case u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return fmt.Errorf("takes https beyond this machine: anyone on the way could read what is sent")
	}
	return nil
}
