package signals

const workflowComplete = "WORKFLOW_COMPLETE"

// asWorkflowMarker opens the hybrid document's (000) word for the end of a workflow, alone on its line. It is a report
// of success that says no more.
func asWorkflowMarker(line string, _ bool) collector {
	if line != workflowComplete {
		return nil
	}
	return openMarker{}
}

type openMarker struct{ wholeLine }

func (openMarker) read(c collected) (Signal, []Problem, bool) {
	return Signal{Kind: WorkflowComplete, Dialect: Marker, Line: c.line, EndLine: c.line}, nil, true
}

func (openMarker) printed(trimmed string) bool { return trimmed == workflowComplete }

func (o openMarker) clone() collector { return o }

// wholeLine is what the collectors of signals of one line have in common.
type wholeLine struct{}

func (wholeLine) whole() bool                         { return true }
func (wholeLine) spans() bool                         { return false }
func (wholeLine) fenced() bool                        { return false }
func (wholeLine) add(string, string, turning) verdict { return over }
