package signals

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxTools is how many bytes the names, descriptions and schemas of the tools may have together: about 1,600 tokens,
// which every request of every conversation carries, beside six times as much for the CLI's own tools.
const maxTools = 6<<10 + 448

func TestTheToolsAreSmallTogether(t *testing.T) {
	total := 0
	for _, tool := range Tools() {
		size := len(tool.Name) + len(tool.Description) + len(tool.Schema)
		t.Logf("%5d %s", size, tool.Name)
		total += size
	}
	t.Logf("%5d together", total)
	if total > maxTools {
		t.Errorf("the tools take %d bytes of every request, at most %d are meant", total, maxTools)
	}
}

// schemas are the tools' schemas by the tools' names.
func schemas(tb testing.TB) map[string]*jsonschema.Schema {
	tb.Helper()
	all := make(map[string]*jsonschema.Schema)
	for _, tool := range Tools() {
		s := new(jsonschema.Schema)
		if err := json.Unmarshal(tool.Schema, s); err != nil {
			tb.Fatalf("%s: %v", tool.Name, err)
		}
		all[tool.Name] = s
	}
	return all
}

func TestTheSchemasAreStrict(t *testing.T) {
	for name, s := range schemas(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
				t.Error(err)
			}
			if s.Type != "object" {
				t.Errorf("it has the type %q", s.Type)
			}
			checkStrict(t, name, s)
		})
	}
}

// checkStrict looks for what a schema leaves open: another member, a text or a list without an end.
func checkStrict(t *testing.T, path string, s *jsonschema.Schema) {
	t.Helper()
	switch {
	case s.Type == "object":
		if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil {
			t.Errorf("%s is open to other members", path)
		}
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", path, name)
			}
		}
		for name, inner := range s.Properties {
			checkStrict(t, path+"."+name, inner)
		}
	case s.Type == "array" && s.MaxItems != nil && s.Items != nil:
		checkStrict(t, path+"[]", s.Items)
	case s.Type == "string" && s.MaxLength != nil, s.Type == "boolean", s.Type == "" && len(s.Enum) > 0:
	case (s.Type == "number" || s.Type == "integer") && s.Minimum != nil && s.Maximum != nil:
	default:
		t.Errorf("%s has no bounds", path)
	}
}

// A tool says what its block says. What a block leaves to others is left out: who, and when.
func TestTheSchemasHaveTheFieldsOfTheBlocks(t *testing.T) {
	elsewhere := map[string][]string{
		// That the agent knows its own conversation is no news within a call of it. Each question has its own image.
		"ask_user": {"blocked_at", "reason", "can_resume_with", "current_state", "blocking", "image"},
	}
	ofTools := map[string][]string{"ask_user": {"context", "wait"}}
	for name, s := range schemas(t) {
		if name == "check_work" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, ok := servedForm(name)
			if !ok {
				t.Fatal("no call of it is a signal")
			}
			block := formNamed(string(f.kind))
			want := append(slices.Concat(block.required, block.fields), ofTools[name]...)
			want = slices.DeleteFunc(want, func(field string) bool { return slices.Contains(elsewhere[name], field) })
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
				t.Errorf("its members (-block +schema)\n%s", diff)
			}
			for _, field := range f.required {
				if !slices.Contains(s.Required, field) {
					t.Errorf("%s is required, and the schema does not tell", field)
				}
			}
			for field, values := range f.values {
				var allowed []string
				for _, v := range s.Properties[field].Enum {
					allowed = append(allowed, v.(string))
				}
				if field == "stop_reason" { // completion has a tool of its own
					allowed = append(allowed, "completion")
				}
				if diff := cmp.Diff(values, allowed); diff != "" {
					t.Errorf("%s (-block +schema)\n%s", field, diff)
				}
			}
		})
	}
}
