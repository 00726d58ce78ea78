# Read checkpoint (includes user answer from main agent)
CHECKPOINT_FILE="/tmp/workflow_${WORKFLOW_ID}_checkpoint.json"
CHECKPOINT=$(cat "$CHECKPOINT_FILE")
USER_CHOICE=$(echo "$CHECKPOINT" | jq -r '.user_answer')

# Restore state from checkpoint
CURRENT_STEP=$(echo "$CHECKPOINT" | jq -r '.current_step')
COMPLETED_STEPS=$(echo "$CHECKPOINT" | jq -r '.completed_steps[]')
PENDING_STEPS=$(echo "$CHECKPOINT" | jq -r '.pending_steps[]')

# Continue from exactly where we left off
case "$USER_CHOICE" in
  oauth)
    # Implement OAuth...
    ;;
  jwt)
    # Implement JWT...
    ;;
esac

# Continue with remaining workflow steps...
echo "WORKFLOW_COMPLETE"
exit 0
