QUESTION_ID="${WORKFLOW_ID}_q1"
while [ $WAIT_SECONDS -lt 300 ]; do
  if [ -f ~/.claude/answers/${QUESTION_ID}.txt ]; then
    echo "WORKFLOW_COMPLETE"
    exit 0
  fi
  sleep 5
done
echo "No quick response."
echo "QUESTION_ESCALATED:${QUESTION_ID}"
exit 0
