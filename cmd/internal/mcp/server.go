// Package mcp is the inbox of a person as an MCP server: any agent that a host runs can ask the person, and no more.
// It lists nothing and answers nothing.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/text"
)

// schema is that of an Asking.
//
//go:embed ask_user.json
var schema []byte

// An Asking is the input of the tool.
type Asking struct {
	Question    string   `json:"question"`
	Options     []Option `json:"options"`
	Context     string   `json:"context"`
	Header      string   `json:"header"`
	MultiSelect bool     `json:"multi_select"`
	Urgent      bool     `json:"urgent"`
	Handle      string   `json:"handle"` // of a question that was asked before, to wait for it again
}

// An Option is an answer to choose.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// UnmarshalJSON reads a label alone, too: agents write it so.
func (o *Option) UnmarshalJSON(doc []byte) error {
	if doc[0] == '"' {
		return json.Unmarshal(doc, &o.Label)
	}
	type plain Option
	return json.Unmarshal(doc, (*plain)(o))
}

// A Server asks the questions of one host.
type Server struct {
	Folders *filedrop.Folders
	Version string
	// Wait is how long a call waits for its answer, until it returns a handle; 0: as long as the host lets it.
	Wait time.Duration
}

// Run serves the host on stdin and stdout until it leaves (nil), or ctx ends.
func (s Server) Run(ctx context.Context) error {
	err := s.server().Run(ctx, &sdk.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s Server) server() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "claude-supervise", Title: "Ask the person", Version: s.Version},
		&sdk.ServerOptions{Instructions: "ask_user asks the person whom you work for, and waits for the answer, however " +
			"long that takes. Ask when you would otherwise guess."})
	sdk.AddTool(server, &sdk.Tool{Name: "ask_user", InputSchema: json.RawMessage(schema),
		Description: "Ask the person a question, and wait for the answer. It may take hours: they are told on their " +
			"screens and their phone. If it returns a handle there is no answer yet; do what does not depend on it, then " +
			"call ask_user with the handle.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, s.ask)
	return server
}

// ask is the tool. Its errors are for the model.
func (s Server) ask(ctx context.Context, r *sdk.CallToolRequest, in Asking) (*sdk.CallToolResult, any, error) {
	id := in.Handle
	switch {
	case id != "" && in.Question != "":
		return nil, nil, errors.New("with a handle leave question out: it is asked already; or ask without one")
	case id == "" && strings.TrimSpace(in.Question) == "":
		return nil, nil, errors.New("question is missing: say what the person is to decide")
	}
	if id == "" {
		var err error
		if id, err = s.Folders.Inquire(in.file(whoAsks(r))); err != nil {
			return nil, nil, err
		}
	}
	waiting, stop := ctx, context.CancelFunc(func() {})
	if s.Wait > 0 {
		waiting, stop = context.WithTimeout(ctx, s.Wait)
	}
	defer stop()
	answer, err := s.Folders.AwaitAnswer(waiting, id)
	switch {
	case ctx.Err() != nil: // the host does not wait any more, and reads nothing; the question stays
		return nil, nil, ctx.Err()
	// Not by input_required, with which the host would make the call again by itself (2026-07-28): with claude 2.1.332
	// on a busy machine 2 of 40 such calls were never made again, and the agent waited for ever.
	case errors.Is(err, context.DeadlineExceeded):
		return says("There is no answer yet. The question stays open. Do what does not depend on it; then call ask_user " +
			"with the handle " + id + " and no question."), nil, nil
	case err != nil:
		return nil, nil, err
	}
	if err := s.Folders.Take(id, answer); err != nil {
		return nil, nil, fmt.Errorf("the answer is %q, and may be given again: %w", answer, err)
	}
	return says(answer), nil, nil
}

// says is a result of words alone: of structured ones claude shows its model nothing else (2.1.332).
func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// file is the question as a file asks it.
func (a Asking) file(by string) filedrop.QuestionFile {
	q := filedrop.QuestionFile{Question: a.Question, Context: a.Context, Header: a.Header, MultiSelect: a.MultiSelect,
		Urgent: a.Urgent, OwnWords: len(a.Options) > 0, AskedBy: by, AskedAt: time.Now()}
	for _, o := range a.Options {
		q.Options, q.OptionDescriptions = append(q.Options, o.Label), append(q.OptionDescriptions, o.Description)
	}
	return q
}

// maxHost bounds the name by which a host calls itself, in bytes.
const maxHost = 60

// whoAsks names the host, and the folder in which it runs this server.
func whoAsks(r *sdk.CallToolRequest) string {
	host := "a host of MCP"
	if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		host = text.CleanLine(p.ClientInfo.Name, maxHost)
	}
	folder, err := os.Getwd()
	if err != nil {
		return host
	}
	return host + " in " + folder
}
