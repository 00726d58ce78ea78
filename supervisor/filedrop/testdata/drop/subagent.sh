WORKFLOW_ID="workflow_$(date +%s)"
QUESTION_ID="${WORKFLOW_ID}_q1"

# Create question file for potential main agent escalation
cat > ~/.claude/questions/pending/${QUESTION_ID}.json <<EOF
{
  "question": "Which auth method: OAuth or JWT?",
  "options": ["oauth", "jwt"],
  "workflow_id": "${WORKFLOW_ID}",
  "checkpoint": "/tmp/${WORKFLOW_ID}_checkpoint.json",
  "asked_at": "$(date -Iseconds)"
}
EOF

# Try quick response via notification
notify-send "Claude Question" "Auth method needed. Answer in: ~/.claude/answers/${QUESTION_ID}.txt (5 min timeout)"

# Poll for quick response (5 minutes = 300 seconds)
WAIT_SECONDS=0
MAX_QUICK_WAIT=300  # 5 minutes - leaves safety margin before 10min timeout

echo "Waiting for quick user response (timeout: ${MAX_QUICK_WAIT}s)..."

while [ $WAIT_SECONDS -lt $MAX_QUICK_WAIT ]; do
  if [ -f ~/.claude/answers/${QUESTION_ID}.txt ]; then
    # Quick response received!
    ANSWER=$(cat ~/.claude/answers/${QUESTION_ID}.txt)

    # Cleanup
    rm ~/.claude/answers/${QUESTION_ID}.txt
    rm ~/.claude/questions/pending/${QUESTION_ID}.json

    echo "Quick response received: $ANSWER"

    # Continue with workflow using answer
    case "$ANSWER" in
      oauth)
        # Implement OAuth...
        ;;
      jwt)
        # Implement JWT...
        ;;
    esac

    # Complete workflow
    echo "WORKFLOW_COMPLETE"
    exit 0
  fi

  sleep 5
  WAIT_SECONDS=$((WAIT_SECONDS + 5))
done

# Timeout - escalate to main agent
echo "No quick response. Escalating to main agent for unlimited-wait question..."

# Save checkpoint with current state
cat > /tmp/${WORKFLOW_ID}_checkpoint.json <<EOF
{
  "workflow_id": "${WORKFLOW_ID}",
  "current_step": "auth_method_selection",
  "completed_steps": ["analyze_requirements", "design_system"],
  "pending_steps": ["implement_auth", "add_tests"],
  "context": "Need auth method choice to continue implementation",
  "next_action": "implement_selected_auth_method"
}
EOF

# Exit with special signal
echo "QUESTION_ESCALATED:${QUESTION_ID}"
exit 0
