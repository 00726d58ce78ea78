package seal

import (
	"fmt"
	"reflect"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// A sealed payload says what it is for, inside what is sealed: the namespace, the workflow, for an activity its type
// and queue, and the type of its value. Whoever opens it as anything else is refused: who reaches the server and has no
// key could give the input of one run to another otherwise, or its stop.
//
// What builds from before this have sealed says none of that (Mark.Old). It is opened where its content names the run
// (Named) and that is the run that it is opened for, or where the content can name none; who takes such a value decides
// what it is worth. A key whose file says so (onlyBound) opens none of it. What is sealed now is opened by such builds,
// too: to them it is metadata that they do not know.

// The metadata of a sealed value.
const (
	metaFor       = "claude-supervise-for"
	metaID        = "claude-supervise-id"
	metaExecution = "claude-supervise-execution"
)

// A Mark is what a sealed value says beside its content. A type that embeds it (with `json:"-"`) is sealed with it.
type Mark struct {
	ID        string // of the update that carries it; no other may
	Execution string // of the workflow that it is for, as the server names executions; "": any of the workflow
	Old       bool   // it was sealed by a build that does not say what it is for; set by who opens it
}

func (m Mark) sealMark() Mark      { return m }
func (m *Mark) setSealMark(n Mark) { *m = n }

// Named is a value whose content names the run that it is for; "": this one names none.
type Named interface{ ForRun() string }

// binding returns what a value is for. ctx is nil where nobody says it: such a value is for nothing else.
func binding(ctx converter.SerializationContext, value reflect.Type) string {
	kind := kindOf(value)
	switch c := ctx.(type) {
	case converter.WorkflowSerializationContext:
		return fmt.Sprintf("workflow %q %q %s", c.Namespace, c.WorkflowID, kind)
	case converter.ActivitySerializationContext:
		return fmt.Sprintf("activity %q %q %q %q %s", c.Namespace, c.WorkflowID, c.ActivityType, c.TaskQueue, kind)
	}
	return "nothing " + kind
}

// kindOf returns the name of a type. It is in what is sealed: a type that crosses the fleet keeps its name.
func kindOf(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "nil"
	case strings.HasPrefix(t.PkgPath(), "claude-supervise/"):
		return t.String()
	}
	return t.Kind().String()
}

// runOf returns the run that a context is of: its workflow, or one that stands in its name (RUN/...).
func runOf(ctx converter.SerializationContext) string {
	id := ""
	switch c := ctx.(type) {
	case converter.WorkflowSerializationContext:
		id = c.WorkflowID
	case converter.ActivitySerializationContext:
		id = c.WorkflowID
	}
	run, _, _ := strings.Cut(id, "/")
	return run
}

// A boundConverter seals values for what they are for.
type boundConverter struct {
	converter.DataConverter // of what is sealed
	key                     *Key
	ctx                     converter.SerializationContext // nil: not said
}

// WithSerializationContext returns a converter of what is for something.
func (b *boundConverter) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	return &boundConverter{DataConverter: b.DataConverter, key: b.key, ctx: ctx}
}

// ToPayload seals a value.
func (b *boundConverter) ToPayload(value any) (*commonpb.Payload, error) {
	plain, err := b.DataConverter.ToPayload(value)
	if err != nil {
		return nil, err
	}
	if plain.Metadata == nil {
		plain.Metadata = map[string][]byte{}
	}
	plain.Metadata[metaFor] = []byte(binding(b.ctx, reflect.TypeOf(value)))
	if marked, is := value.(interface{ sealMark() Mark }); is {
		m := marked.sealMark()
		plain.Metadata[metaID], plain.Metadata[metaExecution] = []byte(m.ID), []byte(m.Execution)
	}
	return b.key.seal(plain)
}

// FromPayload opens a value. It refuses one that was sealed for anything else.
func (b *boundConverter) FromPayload(sealed *commonpb.Payload, to any) error {
	plain, err := b.key.open(sealed)
	if err != nil {
		return err
	}
	want, is := binding(b.ctx, reflect.TypeOf(to)), string(plain.GetMetadata()[metaFor])
	if is != "" && is != want {
		return fmt.Errorf("it was sealed for %s, and not for %s", is, want)
	}
	if is == "" && b.key.bound {
		return fmt.Errorf("it was sealed by an earlier build, which does not say what for, and this fleet's key takes none "+
			"of that: install this build on all machines (%q in the file of the key: see SECURITY.md)", onlyBound)
	}
	if err := b.DataConverter.FromPayload(plain, to); err != nil {
		return err
	}
	if named, knows := to.(Named); knows && is == "" {
		if run := named.ForRun(); run != "" && run != runOf(b.ctx) {
			return fmt.Errorf("it was sealed for the run %q, and not for %q", run, runOf(b.ctx))
		}
	}
	if marked, is2 := to.(interface{ setSealMark(Mark) }); is2 {
		marked.setSealMark(Mark{ID: string(plain.GetMetadata()[metaID]),
			Execution: string(plain.GetMetadata()[metaExecution]), Old: is == ""})
	}
	return nil
}

// ToPayloads seals values.
func (b *boundConverter) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	if len(values) == 0 {
		return nil, nil
	}
	all := &commonpb.Payloads{}
	for i, value := range values {
		sealed, err := b.ToPayload(value)
		if err != nil {
			return nil, fmt.Errorf("values[%d]: %w", i, err)
		}
		all.Payloads = append(all.Payloads, sealed)
	}
	return all, nil
}

// FromPayloads opens as many values as are wanted.
func (b *boundConverter) FromPayloads(sealed *commonpb.Payloads, to ...any) error {
	for i, one := range sealed.GetPayloads() {
		if i >= len(to) {
			break
		}
		if err := b.FromPayload(one, to[i]); err != nil {
			return fmt.Errorf("payload item %d: %w", i, err)
		}
	}
	return nil
}

// ToString returns what a value is for people: nothing of a sealed one.
func (b *boundConverter) ToString(*commonpb.Payload) string { return "(sealed)" }

// ToStrings does so for several.
func (b *boundConverter) ToStrings(sealed *commonpb.Payloads) []string {
	all := make([]string, len(sealed.GetPayloads()))
	for i, one := range sealed.GetPayloads() {
		all[i] = b.ToString(one)
	}
	return all
}
