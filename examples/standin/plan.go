package standin

import (
	"os"
	"path/filepath"
)

// In plan mode the model writes a plan into a file of its own, which needs no leave, and then asks whether it may carry
// it out (ExitPlanMode). The plan is what that file holds. Who allows the call ends plan mode.

const modePlan = "plan"

const exitPlanMode = "ExitPlanMode"

// planFile is where the model of a session writes its plan.
func (a *agent) planFile() string {
	return filepath.Join(filepath.Dir(projects(a.getenv)), "plans", a.opts.session+".md")
}

// planned is the input of the call that ends plan mode: the model gives none.
func (a *agent) planned() map[string]any {
	plan, err := os.ReadFile(a.planFile())
	if err != nil || a.opts.mode != modePlan {
		return map[string]any{}
	}
	return map[string]any{"plan": string(plan), "planFilePath": a.planFile()}
}

// leavePlan ends plan mode.
func (c *conversation) leavePlan(made call) (result, error) {
	plan, file := made.text("plan"), made.text("planFilePath")
	c.setMode(modeDefault)
	return result{
		text: "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n" +
			"Your plan has been saved to: " + file + "\nYou can refer back to it if needed during implementation.\n\n" +
			"## Approved Plan:\n" + plan,
		data: doc{"plan": plan, "isAgent": false, "filePath": file},
	}, nil
}

const notPlanning = "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first. If your plan " +
	"was already approved, continue with implementation."
