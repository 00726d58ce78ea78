package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

// Each value for each key is taken by both, the schema and the reader, or by neither.
func TestTheSchemaTakesWhatIsRead(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{
		`null`, `true`, `0`, `1`, `-1`, `1.5`, `42`, `""`, `" "`, `"x"`, `"two words"`, `"a\nb"`, `"\u001b[31mx"`,
		`"ask"`, `"deny"`, `"warn"`, `"tell"`, `"fresh"`, `"forever"`, `"0"`, `"10m"`, `"1h30m"`, `"1.5h"`, `"-5m"`, `"soon"`,
		`"opus"`, `"--x"`, `[]`, `["x"]`, `[""]`, `[1]`, `[null]`, `["Bash(make test)"]`, `["project"]`, `["task"]`, `{}`,
		`{"k": "v"}`, `{"": "v"}`, `"2M"`, `"0.5k"`, `"auto,ask"`, `"auto,"`, `"/usr/bin/claude"`, `"~/x"`, `["~/x", "/y"]`,
		`["x/y"]`, `"https://example.org/topic"`, `"http://example.org/topic"`, `"http://127.0.0.1:80/topic"`,
		`"https://me:secret@example.org"`, `"ftp://example.org"`,
	}
	top := slices.Concat(Flags(), []string{"folders", "serve", "notify", "unknown"})
	var docs []string
	add := func(format, value string) { docs = append(docs, fmt.Sprintf(format, value)) }
	for _, value := range values {
		for _, name := range top {
			name = strings.ReplaceAll(name, "-", "_")
			add(`{"`+name+`": %s}`, value)
			add(`{"folders": {"~/work": {"`+name+`": %s}}}`, value)
		}
		for _, part := range []string{"serve.folders", "serve.host", "serve.listen", "serve.url", "serve.x",
			"notify.command", "notify.ntfy", "notify.webhook", "notify.permissions", "notify.terminal", "notify.delay",
			"notify.gather", "notify.remind", "notify.x"} {
			section, name, _ := strings.Cut(part, ".")
			add(`{"`+section+`": {"`+name+`": %s}}`, value)
		}
		for _, channel := range []string{`"ntfy": {"token_file"`, `"webhook": {"secret_file"`, `"ntfy": {"x"`} {
			add(`{"notify": {`+channel+`: %s, "url": "https://example.org/x"}}}`, value)
		}
		add(`{"notify": {"ntfy": {"url": %s}}}`, value)
		add(`{"folders": {%s: {}}}`, value)
	}
	taken := map[bool]int{}
	for _, text := range docs {
		var doc any
		if json.Unmarshal([]byte(text), &doc) != nil {
			continue // a key that JSON has not
		}
		var same any
		if err := yaml.Load([]byte(text), &same); err != nil {
			t.Fatal(err)
		}
		wanted := resolved.Validate(doc) == nil
		c := Config{home: "/home/me"}
		if err := c.parse([]byte(text)); (err == nil) != wanted {
			t.Errorf("%s: taken by the schema %t, read: %v", text, wanted, err)
		}
		taken[wanted]++
	}
	if taken[true] < 2*len(keys) || taken[false] < 2*len(keys) {
		t.Errorf("the schema takes and refuses %v of all these", taken)
	}
}

func TestTheSchemaSaysWhatEachKeyIs(t *testing.T) {
	var schema struct {
		Definitions struct {
			Defaults struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal([]byte(Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	properties := schema.Definitions.Defaults.Properties
	var read []string
	for _, k := range keys {
		read = append(read, k.name)
		if properties[k.name].Description == "" {
			t.Errorf("the schema does not say what %s is", k.name)
		}
	}
	if named := slices.Sorted(maps.Keys(properties)); !slices.Equal(named, read) {
		t.Errorf("the schema has %v, and read are %v", named, read)
	}
}
