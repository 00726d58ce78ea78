// Package examples holds scenarios: small tasks whose model is a script. One scenario is one YAML file that says what
// a person asks for, what the model says at each point of the conversation, what the person answers, and what must
// come of it.
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
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed scenarios/*.yaml
var files embed.FS

const extension = ".yaml"

// ErrUnknown says that no scenario has the name.
var ErrUnknown = errors.New("no such scenario")

// A Scenario is one task with all that is said in it.
type Scenario struct {
	Name        string   `yaml:"name"`
	About       string   `yaml:"about"`        // one line for people
	Prompt      string   `yaml:"prompt"`       // the task given to `run`
	Flags       []string `yaml:"flags"`        // flags of `run` that the scenario needs
	ClaudeFlags []string `yaml:"claude_flags"` // what goes to the CLI, after `--`
	Answers     []Answer `yaml:"answers"`      // what the person answers
	Turns       []Turn   `yaml:"turns"`
	Expect      Expect   `yaml:"expect"`
}

// An Answer is what the person says to the question whose text contains Question.
type Answer struct {
	Question string `yaml:"question"`
	Answer   string `yaml:"answer"`
}

// A Turn is what the model says from the user message on that contains When: its first reply at once, each further one
// when the ones before it stand in the conversation.
type Turn struct {
	When    string  `yaml:"when"`
	Replies []Reply `yaml:"replies"`
}

// A Reply is one response of the Messages API, or what happens instead of one: APIError, Crash or Hang.
// Texts may hold placeholders: {{agent}}, {{cwd}}, and {{A1}}, {{A2}}, … for the answers in the message that decided.
type Reply struct {
	Text     string     `yaml:"text"`
	Tools    []ToolCall `yaml:"tools"`
	APIError *APIError  `yaml:"api_error"`
	Crash    int        `yaml:"crash"` // the agent's process ends here, with this exit status
	Hang     bool       `yaml:"hang"`  // no reply ever comes
}

// A ToolCall is one call of a tool that the model makes.
type ToolCall struct {
	Name  string         `yaml:"name"`
	Input map[string]any `yaml:"input"`
}

// An APIError is a failure of the Messages API.
type APIError struct {
	Status  int    `yaml:"status"` // of HTTP
	Message string `yaml:"message"`
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

// Names lists the built-in scenarios.
func Names() []string {
	entries, err := fs.ReadDir(files, "scenarios")
	if err != nil {
		panic(fmt.Sprintf("examples: %v", err)) // it is compiled in
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), extension)
	}
	return names
}

// Load gives the built-in scenario of that name, or, for a name that ends in .yaml, reads that file.
// The error is ErrUnknown for a name that is not built in.
func Load(nameOrFile string) (Scenario, error) {
	if strings.HasSuffix(nameOrFile, extension) {
		data, err := os.ReadFile(nameOrFile)
		if err != nil {
			return Scenario{}, fmt.Errorf("read scenario: %w", err)
		}
		return parseAs(nameOrFile, data)
	}
	if !slices.Contains(Names(), nameOrFile) {
		return Scenario{}, fmt.Errorf("%w: %q; give a file that ends in %s, or one of: %s",
			ErrUnknown, nameOrFile, extension, strings.Join(Names(), ", "))
	}
	data, err := files.ReadFile(path.Join("scenarios", nameOrFile+extension))
	if err != nil {
		panic(fmt.Sprintf("examples: %v", err)) // it is compiled in
	}
	return parseAs(nameOrFile, data)
}

func parseAs(name string, data []byte) (Scenario, error) {
	s, err := Parse(data)
	if err != nil {
		return Scenario{}, fmt.Errorf("scenario %s: %w", name, err)
	}
	return s, nil
}
