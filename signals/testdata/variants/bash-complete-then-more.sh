./build.sh
echo WORKFLOW_COMPLETE
echo "log: $LOG" >&2
