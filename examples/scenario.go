// Package examples holds scenarios: small tasks whose model is a script. One scenario is one YAML file that says what
// a person asks for, what the model says at each point of the conversation, what the person answers, and what must
// come of it.
//
// Those that stand in a folder of their own are for people to copy: task.yaml there is the task, as `run -f` takes it,
// and scenario.yaml plays it. README.md says what each shows.
//
// Use it to show the program without an account (`run --demo NAME`), and to test it: the stand-in agent of package
// standin plays a scenario by itself, a scripted Messages API plays it to the real CLI.
//
// It does not run anything, and knows neither the CLI's streams nor the supervisor.
package examples

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed scenarios/*.yaml */scenario.yaml */task.yaml
var files embed.FS

const (
	extension      = ".yaml"
	taskFile       = "task.yaml" // beside a scenario that has no prompt of its own
	scenarioFile   = "scenario.yaml"
	scenarioFolder = "scenarios"
)

// errUnknown says that no scenario has the name.
var errUnknown = errors.New("no such scenario")

// A Scenario is one task with all that is said in it.
type Scenario struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"` // one line for people
	// the task given to `run`; if the file has none, that of the task file beside it
	Prompt      string   `yaml:"prompt"`
	Task        []byte   `yaml:"-"`            // that task file, for `run -f`; nil where the prompt is the whole task
	Flags       []string `yaml:"flags"`        // flags of `run` that the scenario needs
	ClaudeFlags []string `yaml:"claude_flags"` // what goes to the CLI, after `--`
	Answers     []Answer `yaml:"answers"`      // what the person answers
	Turns       []Turn   `yaml:"turns"`
	Children    []Child  `yaml:"children"` // agents of their own, to which work is delegated
	// The summary of the report with which an agent ends, as partly done, where an answer leads to what no turn says. ""
	// if the turns have something to say after each answer that can be given.
	Otherwise string `yaml:"otherwise"`
	Expect    Expect `yaml:"expect"`
}

// A Child is an agent that work is delegated to, in a process of its own and by turns of its own: the one whose task
// begins with Task. Several agents may be the same child.
type Child struct {
	Task     string `yaml:"task"`
	Optional bool   `yaml:"optional"` // another answer than those of Answers starts it
	Turns    []Turn `yaml:"turns"`
}

// An Answer is what the person says to the question whose text contains Question.
type Answer struct {
	Question string `yaml:"question"`
	Answer   string `yaml:"answer"`
}

// A Turn is what the model says from the user message on that contains When: its first reply at once, each further one
// when the ones before it stand in the conversation. A subagent has a conversation of its own: its turns are those that
// begin with the prompt of the Agent call that starts it, or with the message of the SendMessage call that revives it.
//
// Of several turns with the same When it is the one that wants most, of those for which enough has happened: Launched
// agents that work was delegated to, Ended ones, and messages Before it that contain When.
type Turn struct {
	When     string  `yaml:"when"`
	Launched int     `yaml:"launched"`
	Ended    int     `yaml:"ended"`
	Before   int     `yaml:"before"`
	Replies  []Reply `yaml:"replies"`
}

// A Reply is one response of the Messages API, or what happens instead of one: APIError, Crash or Hang. Texts may hold
// placeholders: {{agent}}, {{cwd}}, {{plan_file}} for the file that a plan goes into in plan mode, and from the message
// that decided {{state}} for the state file or checkpoint that
// it names. From that message and all that came after it, results of tools included: {{A1}}, {{A2}}, … for answers,
// {{subagent1}}, {{subagent2}}, … for the ids of subagents, {{subagent1.task}} and {{subagent1.A1}} for what stands
// beside and below the first one's: what it is for, and what was answered to it. From the whole conversation:
// {{child1}}, {{child2}}, … for the ids of agents that work was delegated to, in the order of their launches,
// {{child1.outcome}} and {{child1.summary}} for what the end of the first one says.
type Reply struct {
	Text     string     `yaml:"text"`
	Tools    []ToolCall `yaml:"tools"`
	Usage    *Usage     `yaml:"usage"` // nil: Billed has one for every reply
	APIError *APIError  `yaml:"api_error"`
	Crash    int        `yaml:"crash"` // the agent's process ends here, with this exit status
	Hang     bool       `yaml:"hang"`  // no reply ever comes
}

// A ToolCall is one call of a tool that the model makes.
type ToolCall struct {
	Name  string         `yaml:"name"`
	Input map[string]any `yaml:"input"`
}

// Usage is what a reply is billed for, in tokens.
type Usage struct {
	Input      int `yaml:"input"` // of those that are in no cache
	Output     int `yaml:"output"`
	CacheRead  int `yaml:"cache_read"`
	CacheWrite int `yaml:"cache_write"`
}

// Billed is what the reply is billed for.
func (r Reply) Billed() Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	return Usage{Input: 120, Output: 42}
}

// An APIError is a failure of the Messages API. One that Lasts is a usage limit: every request fails so until it has
// passed since the first, and {{reset}} in Message is that time.
type APIError struct {
	Status  int           `yaml:"status"` // of HTTP
	Message string        `yaml:"message"`
	Lasts   time.Duration `yaml:"lasts"`
}

// resetPlaceholder stands in the message of a failure for the time when it has passed.
const resetPlaceholder = "{{reset}}"

// Passes is when a failure has passed that first came at a time: a whole second, for it is told to the second.
func (e APIError) Passes(since time.Time) time.Time {
	end := since.Add(e.Lasts)
	if whole := end.Truncate(time.Second); whole.Before(end) {
		return whole.Add(time.Second)
	}
	return end
}

// Until returns the failure with the time when it has passed in its message, in RFC 3339.
func (e APIError) Until(reset time.Time) APIError {
	e.Message = strings.ReplaceAll(e.Message, resetPlaceholder, reset.UTC().Format(time.RFC3339))
	return e
}

// Lifted is what is left of the scenario when its usage limits have passed: no reply is one any more.
func (s Scenario) Lifted() Scenario {
	s.Turns = lifted(s.Turns)
	s.Children = slices.Clone(s.Children)
	for i := range s.Children {
		s.Children[i].Turns = lifted(s.Children[i].Turns)
	}
	return s
}

func lifted(turns []Turn) []Turn {
	turns = slices.Clone(turns)
	for i := range turns {
		turns[i].Replies = slices.DeleteFunc(slices.Clone(turns[i].Replies), func(r Reply) bool {
			return r.APIError != nil && r.APIError.Lasts > 0
		})
	}
	return turns
}

// Type is the API's own name for a failure of this status.
func (e APIError) Type() string {
	switch e.Status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

// Expect is what the run must come to.
type Expect struct {
	Status   string            `yaml:"status"`    // of the root agent
	ExitCode int               `yaml:"exit_code"` // of `run`
	Summary  string            `yaml:"summary"`   // of its report
	Files    map[string]string `yaml:"files"`     // what files in its folder hold at the end
}

// Names lists the built-in scenarios, sorted.
func Names() []string { return slices.Sorted(maps.Keys(builtIn())) }

// builtIn returns the files of the built-in scenarios by their names: scenarios/NAME.yaml, and NAME/scenario.yaml.
func builtIn() map[string]string {
	found := map[string]string{}
	for _, file := range embedded(scenarioFolder) {
		found[strings.TrimSuffix(file, extension)] = path.Join(scenarioFolder, file)
	}
	for _, folder := range embedded(".") {
		if folder != scenarioFolder {
			found[folder] = path.Join(folder, scenarioFile)
		}
	}
	return found
}

// embedded returns the names in a folder of the scenarios. It is quicker than a pattern: every command lists them for
// its help.
func embedded(folder string) []string {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(fmt.Sprintf("examples: %v", err)) // it is a constant
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Load returns the built-in scenario of that name, or, for a name that ends in .yaml, reads that file.
// The error is errUnknown for a name that is not built in.
func Load(nameOrFile string) (Scenario, error) {
	read, file := os.ReadFile, nameOrFile
	if !strings.HasSuffix(nameOrFile, extension) {
		read, file = files.ReadFile, builtIn()[nameOrFile]
		if file == "" {
			return Scenario{}, fmt.Errorf("%w: %q; give a file that ends in %s, or one of: %s",
				errUnknown, nameOrFile, extension, strings.Join(Names(), ", "))
		}
	}
	data, err := read(file)
	if err != nil {
		return Scenario{}, fmt.Errorf("read scenario: %w", err)
	}
	s, err := parse(data, func() ([]byte, error) { return read(path.Join(path.Dir(file), taskFile)) })
	if err != nil {
		return Scenario{}, fmt.Errorf("scenario %s: %w", nameOrFile, err)
	}
	return s, nil
}
