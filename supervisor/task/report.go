package task

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// ReportOf makes the record of a completion report.
func ReportOf(sig signals.Signal) *checkpoints.Report {
	status := strings.ToLower(strings.TrimSpace(sig.Field("status")))
	switch status {
	case "success", "partial_success", "failed":
	default:
		status = "success"
		if strings.TrimSpace(sig.Field("status")) != "" {
			status = "partial_success" // a status that we cannot read is not taken for a success
		}
	}
	return &checkpoints.Report{
		Status: status, Summary: strings.TrimSpace(sig.Field("summary")), Deliverables: sig.Field("deliverables"),
		Files:   PathsOf(Deliverables(sig.List("deliverables"))),
		Metrics: sig.Field("metrics_achieved"), Issues: sig.Field("issues_encountered"),
		Recommendations: sig.Field("recommendations"), Duration: sig.Field("total_duration"),
	}
}
