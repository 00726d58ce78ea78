echo "== the [STOP_WORK] marker, and WORKFLOW_COMPLETE =="; cat notes.txt
