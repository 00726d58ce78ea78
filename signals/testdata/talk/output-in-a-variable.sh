OUT=$(echo "WORKFLOW_COMPLETE"; echo "AWAITING_USER_INPUT")
[[ "$OUT" == *WORKFLOW_COMPLETE* ]] && head -2 run.log
