package checkpoints

// Merged is what became of the files in which the agents of a run shared findings.
type Merged struct {
	Done    bool         `json:"done,omitempty"`    // nothing is left to do
	Tries   int          `json:"tries"`             // how often it was tried
	Files   []MergedFile `json:"files,omitempty"`   // by name
	Problem string       `json:"problem,omitempty"` // why some are not merged, for people
}

// MergedFile is what became of one such file. Its lines stay where they are.
type MergedFile struct {
	Name   string `json:"name"`             // of the file: findings.jsonl
	Merged string `json:"merged"`           // the path of the array that it became
	Lines  int    `json:"lines"`            // in the array
	Broken int    `json:"broken,omitempty"` // lines that are no JSON: kept aside
	Aside  string `json:"aside,omitempty"`  // the path of the file that has those; "" where there are none
}
