package taskfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestTheSchemaHasTheKeysThatAreRead(t *testing.T) {
	var schema struct {
		AdditionalProperties bool
		Properties           map[string]described
		Definitions          map[string]struct{ Properties map[string]described }
	}
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	same(t, keys, schema.Properties)
	same(t, workKeys, schema.Definitions["work"].Properties)
	same(t, append(slices.Clip(workKeys), key[Child]{name: "after"}, key[Child]{name: "children"}),
		schema.Definitions["child"].Properties)
	if schema.AdditionalProperties {
		t.Error("the schema takes unknown keys")
	}
}

// described is a property, or where it is described.
type described struct {
	Description string
	Ref         string `json:"$ref"`
}

func same[T any](t *testing.T, keys []key[T], properties map[string]described) {
	t.Helper()
	var read []string
	for _, k := range keys {
		read = append(read, k.name)
		if p := properties[k.name]; p.Description == "" && p.Ref == "" {
			t.Errorf("the schema does not say what %s is", k.name)
		}
	}
	slices.Sort(read)
	if named := slices.Sorted(maps.Keys(properties)); !slices.Equal(named, read) {
		t.Errorf("the schema has %v, and read are %v", named, read)
	}
}

// Each value for each key is taken by both, the schema and Parse, or by neither.
func TestTheSchemaTakesWhatIsRead(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	values := []string{
		`null`, `true`, `0`, `1`, `-1`, `1.5`, `42`, `""`, `" "`, `"x"`, `" x "`, `"two words"`, `"a\nb"`, `"\u001b[31mx"`,
		`"ask"`, `"deny"`, `"allow"`, `"forever"`, `"0"`, `"10m"`, `"1h30m"`, `"1.5h"`, `"-5m"`, `"soon"`, `"opus"`, `"--x"`,
		`"claude-opus-4-1[1m]"`, `[]`, `["x"]`, `["x", "y z"]`, `[""]`, `[1]`, `[null]`, `[["x"]]`, `["a\nb"]`, `{}`,
		`{"k": "v"}`, `{"k": 1}`, `{"k": true}`, `{"k": ""}`, `{"k": null}`, `{"k": []}`, `{"": "v"}`, `{" ": "v"}`,
		`"2M"`, `"0.5k"`, `"1_000"`, `"auto,ask"`, `"auto, deny"`, `"auto,"`, `"P1"`, `"optional"`, `false`, `0.5`,
		`{"files": "*.md"}`, `{"lines": "-"}`, `{"files": "a", "lines": "b"}`, `{"command": "ls"}`, `{"files": ""}`,
	}
	var nested []string // each as a part of a child
	for _, v := range values {
		for _, k := range append(workKeys, key[Child]{name: "children"}) {
			if k.name != "prompt" {
				nested = append(nested, fmt.Sprintf(`[{"prompt": "p", %q: %s}]`, k.name, v),
					fmt.Sprintf(`{"prompt": "p", %q: %s}`, k.name, v))
			}
		}
		nested = append(nested, fmt.Sprintf(`{"a": {"prompt": %s}}`, v), fmt.Sprintf(`{"a": {"prompt": "p", "name": %s}}`, v))
	}
	taken := 0
	for _, key := range append([]string{"unknown"},
		slices.Sorted(maps.Keys(schema.(map[string]any)["properties"].(map[string]any)))...) {
		values := values
		if key == "children" || key == "child" {
			values = slices.Concat(values, nested)
		}
		for _, value := range values {
			text := fmt.Sprintf("{%q: %s}", key, value)
			var doc any
			if err := yaml.Load([]byte(text), &doc); err != nil {
				t.Fatal(err)
			}
			wanted := fits(t, schema, schema, doc)
			if _, err := Parse([]byte(text)); (err == nil) != wanted {
				t.Errorf("%s: taken by the schema %t, read: %v", text, wanted, err)
			}
			if wanted {
				taken++
			}
		}
	}
	if taken < 3*len(keys) {
		t.Errorf("the schema takes only %d of all these", taken)
	}
}

// fits reports whether a value is of a schema, as far as ours goes: JSON Schema draft 7 without all that we do not use.
func fits(t *testing.T, whole, schema, value any) bool {
	t.Helper()
	rules := schema.(map[string]any)
	for rule, want := range rules {
		ok := true
		switch rule {
		case "$schema", "title", "description", "examples", "definitions":
		case "$ref":
			of := whole
			for _, name := range strings.Split(want.(string), "/")[1:] {
				of = of.(map[string]any)[name]
			}
			ok = fits(t, whole, of, value)
		case "properties": // with additionalProperties
		case "type":
			types, several := want.([]any)
			if !several {
				types = []any{want}
			}
			ok = slices.ContainsFunc(types, func(name any) bool { return is(name.(string), value) })
		case "pattern":
			text, isText := value.(string)
			ok = !isText || regexp.MustCompile(want.(string)).MatchString(text)
		case "minimum":
			n, isInt := value.(int)
			ok = !isInt || n >= int(want.(float64))
		case "exclusiveMinimum":
			f, isFloat := value.(float64)
			n, isInt := value.(int)
			ok = (!isFloat || f > want.(float64)) && (!isInt || float64(n) > want.(float64))
		case "minProperties", "maxProperties":
			doc, isMap := value.(map[string]any)
			ok = !isMap || rule == "minProperties" && len(doc) >= int(want.(float64)) || rule == "maxProperties" &&
				len(doc) <= int(want.(float64))
		case "required":
			doc, isMap := value.(map[string]any)
			for _, name := range want.([]any) {
				_, has := doc[name.(string)]
				ok = ok && (!isMap || has)
			}
		case "not":
			ok = !fits(t, whole, want, value)
		case "allOf":
			ok = !slices.ContainsFunc(want.([]any), func(s any) bool { return !fits(t, whole, s, value) })
		case "enum":
			ok = slices.Contains(want.([]any), value)
		case "const":
			n, isInt := value.(int)
			ok = isInt && float64(n) == want
		case "anyOf":
			ok = slices.ContainsFunc(want.([]any), func(s any) bool { return fits(t, whole, s, value) })
		case "items":
			list, _ := value.([]any)
			ok = !slices.ContainsFunc(list, func(v any) bool { return !fits(t, whole, want, v) })
		case "propertyNames":
			doc, _ := value.(map[string]any)
			for name := range doc {
				ok = ok && fits(t, whole, want, name)
			}
		case "additionalProperties":
			doc, _ := value.(map[string]any)
			properties, _ := rules["properties"].(map[string]any)
			for name, v := range doc {
				switch of, known := properties[name]; {
				case known:
					ok = ok && fits(t, whole, of, v)
				case want == false:
					ok = false
				default:
					ok = ok && fits(t, whole, want, v)
				}
			}
		default:
			t.Fatalf("this test does not know the rule %s", rule)
		}
		if !ok {
			return false
		}
	}
	return true
}

func is(name string, value any) bool {
	switch value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case int:
		return name == "integer" || name == "number"
	case float64:
		return name == "number"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return name == "null"
}
