make release && ./notify.sh && printf '%s\n' WORKFLOW_COMPLETE
