package e2e

import (
	"context"
	"os"
	"path/filepath"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/temporalproto"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// keepsHistory writes what the workflow of a run has done, opened, into $CLAUDE_SUPERVISE_TEST_HISTORIES, if that is
// set: internal/flow replays what lies in its testdata (make fleet-histories).
func (s *site) keepsHistory(run, name string) {
	s.t.Helper()
	folder := os.Getenv("CLAUDE_SUPERVISE_TEST_HISTORIES")
	if folder == "" {
		return
	}
	h := s.history(run)
	key, err := seal.ReadKey(s.server().Key)
	if err != nil {
		s.t.Fatal(err)
	}
	open := func(_ *proxy.VisitPayloadsContext, p []*commonpb.Payload) ([]*commonpb.Payload, error) {
		for i, one := range p {
			opened, err := key.Opened(one)
			if err == nil {
				p[i] = opened // else it is the server's own
			}
		}
		return p, nil
	}
	if err := proxy.VisitPayloads(context.Background(), h, proxy.VisitPayloadsOptions{Visitor: open,
		SkipSearchAttributes: true}); err != nil {
		s.t.Fatal(err)
	}
	doc, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), doc, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// history returns what the workflow of a run has done so far, sealed as it is.
func (s *site) history(run string) *historypb.History {
	s.t.Helper()
	client, err := s.dials(sdk.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	h := &historypb.History{}
	for events := client.GetWorkflowHistory(s.t.Context(), run, "", false,
		enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		h.Events = append(h.Events, event)
	}
	return h
}
