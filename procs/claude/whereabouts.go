package claude

import (
	"net/url"
	"slices"
	"strings"

	"claude-supervise/procs"
)

// Whereabouts are the variables that decide where claude keeps its conversations, and as whom and with which service it
// works: a run goes on from another shell, from cron or by the page as it was started. Of keys and tokens the names
// alone are remembered.
type Whereabouts struct {
	Values map[string]string `json:"values,omitempty"`
	// variables whose values are not remembered, that were set
	Named []string `json:"named,omitempty"`
}

// How a variable is remembered.
const (
	// The folders of conversations: what the run had is in force, even where that is nothing.
	placeOfRun = iota
	// A name or a folder: what the run had is in force where nothing is set.
	byValue
	// An address: the same, unless it holds a password.
	byAddress
	// A key or a token, or what may hold one.
	byName
)

// whereabouts are the variables by their names; a name that ends with * stands for all that begin so.
var whereabouts = []struct {
	name string
	how  int
}{
	{"CLAUDE_CONFIG_DIR", placeOfRun}, {"HOME", placeOfRun},
	{"XDG_CONFIG_HOME", byValue}, {"XDG_DATA_HOME", byValue}, {"XDG_CACHE_HOME", byValue},

	{"ANTHROPIC_BASE_URL", byAddress}, {"ANTHROPIC_MODEL", byValue}, {"ANTHROPIC_SMALL_FAST_MODEL", byValue},
	{"ANTHROPIC_DEFAULT_*", byValue}, {"CLAUDE_CODE_SUBAGENT_MODEL", byValue},
	{"ANTHROPIC_CONFIG_DIR", byValue}, {"ANTHROPIC_PROFILE", byValue}, {"ANTHROPIC_WORKSPACE_ID", byValue},
	{"ANTHROPIC_ORGANIZATION_ID", byValue}, {"CLAUDE_SECURESTORAGE_CONFIG_DIR", byValue},
	{"ANTHROPIC_API_KEY", byName}, {"ANTHROPIC_AUTH_TOKEN", byName}, {"ANTHROPIC_CUSTOM_HEADERS", byName},
	{"ANTHROPIC_IDENTITY_TOKEN", byName}, {"ANTHROPIC_IDENTITY_TOKEN_FILE", byValue},
	{"CLAUDE_CODE_OAUTH_TOKEN", byName}, {"CLAUDE_CODE_OAUTH_REFRESH_TOKEN", byName},

	{"CLAUDE_CODE_USE_*", byValue}, {"CLAUDE_CODE_SKIP_BEDROCK_AUTH", byValue},
	{"CLAUDE_CODE_SKIP_VERTEX_AUTH", byValue}, {"CLAUDE_CODE_SKIP_FOUNDRY_AUTH", byValue},
	{"ANTHROPIC_BEDROCK_BASE_URL", byAddress}, {"ANTHROPIC_VERTEX_BASE_URL", byAddress},
	{"ANTHROPIC_FOUNDRY_BASE_URL", byAddress}, {"ANTHROPIC_FOUNDRY_RESOURCE", byValue},
	{"ANTHROPIC_FOUNDRY_API_KEY", byName}, {"ANTHROPIC_FOUNDRY_AUTH_TOKEN", byName},
	{"ANTHROPIC_AWS_BASE_URL", byAddress}, {"ANTHROPIC_AWS_API_KEY", byName}, {"ANTHROPIC_AWS_WORKSPACE_ID", byValue},
	{"AWS_PROFILE", byValue}, {"AWS_REGION", byValue}, {"AWS_DEFAULT_REGION", byValue}, {"AWS_CONFIG_FILE", byValue},
	{"AWS_SHARED_CREDENTIALS_FILE", byValue}, {"AWS_ROLE_ARN", byValue}, {"AWS_WEB_IDENTITY_TOKEN_FILE", byValue},
	{"AWS_ACCESS_KEY_ID", byName}, {"AWS_SECRET_ACCESS_KEY", byName}, {"AWS_SESSION_TOKEN", byName},
	{"AWS_BEARER_TOKEN_BEDROCK", byName},
	{"ANTHROPIC_VERTEX_PROJECT_ID", byValue}, {"CLOUD_ML_REGION", byValue}, {"VERTEX_REGION_*", byValue},
	{"GOOGLE_APPLICATION_CREDENTIALS", byValue}, {"GOOGLE_CLOUD_PROJECT", byValue}, {"GCLOUD_PROJECT", byValue},
	{"CLOUDSDK_CONFIG", byValue},

	{"HTTP_PROXY", byAddress}, {"HTTPS_PROXY", byAddress}, {"ALL_PROXY", byAddress}, {"NO_PROXY", byValue},
	{"http_proxy", byAddress}, {"https_proxy", byAddress}, {"all_proxy", byAddress}, {"no_proxy", byValue},
	{"NODE_EXTRA_CA_CERTS", byValue}, {"SSL_CERT_FILE", byValue}, {"SSL_CERT_DIR", byValue},
	{"CLAUDE_CODE_CLIENT_CERT", byValue}, {"CLAUDE_CODE_CLIENT_KEY", byValue},
	{"CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", byName},
}

// howRemembered returns how a variable is remembered; false: it is not.
func howRemembered(name string) (how int, is bool) {
	for _, w := range whereabouts {
		prefix, begins := strings.CutSuffix(w.name, "*")
		if w.name == name || begins && strings.HasPrefix(name, prefix) {
			return w.how, true
		}
	}
	return 0, false
}

// WhereaboutsIn reads them from an environment.
func WhereaboutsIn(env []string) *Whereabouts {
	w := &Whereabouts{Values: map[string]string{}}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		how, is := howRemembered(name)
		switch {
		case !is || value == "":
		case how == byName, how == byAddress && !isBare(value):
			w.Named = append(w.Named, name)
		default:
			w.Values[name] = value
		}
	}
	slices.Sort(w.Named)
	w.Named = slices.Compact(w.Named)
	return w
}

// isBare reports whether an address holds nothing but the address. What cannot be read as one may hold anything.
func isBare(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	return err == nil && u.User == nil && u.RawQuery == "" && u.Fragment == "" && u.Host != ""
}

// A Change is a variable that has to be set for a run to go on as it was started; Value "" unsets it.
type Change struct{ Name, Value string }

// Changes compares an environment with what a run was started with: what has to be set in it, and the names of those
// variables that were set then, are not now, and whose values nobody knows.
func (w *Whereabouts) Changes(env []string) (set []Change, missing []string) {
	if w == nil { // of a run that was begun by a release that did not remember it
		return nil, nil
	}
	for _, known := range whereabouts {
		if known.how == placeOfRun && w.Values[known.name] == "" && procs.Lookup(env, known.name) != "" {
			set = append(set, Change{known.name, ""})
		}
	}
	for name, value := range w.Values {
		how, _ := howRemembered(name)
		if now := procs.Lookup(env, name); now == "" || how == placeOfRun && now != value {
			set = append(set, Change{name, value})
		}
	}
	for _, name := range w.Named {
		if procs.Lookup(env, name) == "" {
			missing = append(missing, name)
		}
	}
	slices.SortFunc(set, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return set, missing
}

// With adds what was remembered before to what is now.
func (w *Whereabouts) With(before *Whereabouts) *Whereabouts {
	if before == nil {
		return w
	}
	all := &Whereabouts{Values: w.Values, Named: slices.Concat(w.Named, before.Named)}
	slices.Sort(all.Named)
	all.Named = slices.Compact(all.Named)
	return all
}
