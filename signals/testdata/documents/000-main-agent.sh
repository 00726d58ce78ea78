# After subagent exits, check output
SUBAGENT_OUTPUT=$(cat /tmp/subagent_output.txt)

if [[ "$SUBAGENT_OUTPUT" == *"QUESTION_ESCALATED"* ]]; then
  # Extract question ID
  QUESTION_ID=$(echo "$SUBAGENT_OUTPUT" | grep -o 'QUESTION_ESCALATED:[^ ]*' | cut -d: -f2)

  # Read question details
  QUESTION_FILE=~/.claude/questions/pending/${QUESTION_ID}.json
  QUESTION=$(jq -r '.question' "$QUESTION_FILE")
  OPTIONS=$(jq -r '.options[]' "$QUESTION_FILE")
  CHECKPOINT=$(jq -r '.checkpoint' "$QUESTION_FILE")

  # Ask user via Claude Code UI (unlimited wait time)
  # User can take hours, days, whatever
  # AskUserQuestion tool used here...
  # User responds: "oauth"

  # Update checkpoint with answer
  jq '.user_answer = "oauth"' "$CHECKPOINT" > "${CHECKPOINT}.tmp"
  mv "${CHECKPOINT}.tmp" "$CHECKPOINT"

  # Cleanup question file
  mv "$QUESTION_FILE" ~/.claude/questions/answered/${QUESTION_ID}.json

  # Relaunch subagent with answer
  claude -p "Resume workflow from checkpoint: ${CHECKPOINT}. User selected: oauth. Continue implementation." \
    --dangerously-skip-permissions

elif [[ "$SUBAGENT_OUTPUT" == *"WORKFLOW_COMPLETE"* ]]; then
  # Quick response path succeeded - workflow done!
  echo "Workflow completed successfully via quick response path"
fi
