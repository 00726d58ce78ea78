package permission

import (
	"fmt"
	"maps"
	"os"

	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/text"
)

// Of several --settings claude takes one: the last from 2.1.200 on, the first before. So what a folder narrows, what
// the person gives with a --settings of their own and what holds the promises of a run (ours) are put together here:
// rules add up, of other members the person's win over the folder's, and ours over all.
//
// They are in a file of the run, which nobody else may read: the arguments of a process are there for every user to
// see, and 2.1.100 puts settings that are an argument into a file that every user can read, and can have made before.

// A SettingsFile is where the settings of a launch are written, and from what.
type SettingsFile struct {
	Path   string
	Cwd    string         // where a relative --settings of the person's is looked for
	Folder map[string]any // what the files of the agent's folder narrow
	Person Person
	// Sessions says that other sessions of the person may send the agent messages: then their settings decide.
	Sessions bool
	// Takes says why a document of settings would be void; nil: it is not asked.
	Takes func(doc map[string]any) error
}

// Write writes the settings, and returns the flags that claude is started with: the person's without their --settings,
// and the file. The error says why the person's --settings cannot be taken.
func (f SettingsFile) Write(flags []string) ([]string, error) {
	doc := map[string]any{}
	merge(doc, f.Folder)
	given, err := givenSettings(flags, f.Cwd)
	if err != nil {
		return nil, err
	}
	merge(doc, given)
	if given != nil && f.Takes != nil {
		if err := f.Takes(maps.Clone(doc)); err != nil {
			return nil, fmt.Errorf("nothing of your --settings would be in force: %w", err)
		}
	}
	merge(doc, f.Person.ours())
	if !f.Sessions { // and whatever the person lets their other sessions take
		doc["crossSessionInbound"] = "refuse"
	}
	if err := os.WriteFile(f.Path, text.JSON(doc), 0o600); err != nil {
		return nil, fmt.Errorf("the settings of the agent cannot be written: %w", err)
	}
	return append(claude.WithoutFlags(flags, []string{"--settings"}), "--settings="+f.Path), nil
}

// merge puts a document over another: lists are added, other members replaced.
func merge(doc, over map[string]any) {
	for name, value := range over {
		switch value := value.(type) {
		case map[string]any:
			members, _ := doc[name].(map[string]any)
			members = maps.Clone(members)
			if members == nil {
				members = map[string]any{}
			}
			merge(members, value)
			doc[name] = members
		case []any:
			list, _ := doc[name].([]any)
			doc[name] = append(list[:len(list):len(list)], value...)
		default:
			doc[name] = value
		}
	}
}
