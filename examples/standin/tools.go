package standin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What the CLI adds to the result of a change: that the model knows what the file holds now, or that a person permitted
// another content than the model's (since 2.1.331).
const (
	upToDate  = " (file state is current in your context — no need to Read it back)"
	byAnother = " The user modified your proposed content before accepting it."
)

func (c *conversation) read(made call) (result, error) {
	path := c.path(made)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return failure(fmt.Sprintf("File does not exist. Note: your current working directory is %s.", c.cwd)), nil
	}
	if err != nil {
		return failure(err.Error()), nil
	}
	var b strings.Builder
	all := strings.Split(string(data), "\n")
	for i, line := range all {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, line)
	}
	return result{
		text: strings.TrimSuffix(b.String(), "\n"),
		data: doc{"type": "text", "file": doc{
			"filePath": path, "content": string(data), "numLines": len(all), "startLine": 1, "totalLines": len(all),
		}},
	}, nil
}

// write makes a file, or writes one anew. Unlike the CLI it does not insist that the file has been read before.
func (c *conversation) write(made call) (result, error) {
	path, content := c.path(made), made.text("content")
	before, err := os.ReadFile(path)
	holds := upToDate
	if made.changed {
		holds = byAnother
	}
	r := result{
		text: "The file " + path + " has been updated successfully." + holds,
		data: doc{"type": "update", "filePath": path, "content": content, "originalFile": string(before),
			"structuredPatch": []doc{}, "userModified": made.changed},
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.text = "File created successfully at: " + path + holds
		r.data = doc{"type": "create", "filePath": path, "content": content, "originalFile": nil,
			"structuredPatch": []doc{}, "userModified": made.changed}
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o666)
	}
	if err != nil {
		return failure(err.Error()), nil
	}
	return r, nil
}

func (c *conversation) edit(made call) (result, error) {
	path, from, to := c.path(made), made.text("old_string"), made.text("new_string")
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return misuse("File does not exist."), nil
	}
	if err != nil {
		return failure(err.Error()), nil
	}
	everywhere, _ := made.input["replace_all"].(bool)
	found := strings.Count(string(before), from)
	switch {
	case from == "" || found == 0:
		return misuse("String to replace not found in file.\nString: " + from), nil
	case found > 1 && !everywhere:
		return misuse(fmt.Sprintf("Found %d matches of the string to replace, but replace_all is false.\nString: %s",
			found, from)), nil
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(before), from, to)), 0o666); err != nil {
		return failure(err.Error()), nil
	}
	return result{
		text: "The file " + path + " has been updated successfully." + upToDate,
		data: doc{
			"filePath": path, "oldString": from, "newString": to, "originalFile": string(before), "replaceAll": everywhere,
			"structuredPatch": []doc{}, "userModified": false,
		},
	}, nil
}
