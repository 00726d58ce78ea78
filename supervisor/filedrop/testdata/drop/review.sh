# Review found: content overlap requires user decision
QUESTION_ID="${WORKFLOW_ID}_review_decision"

# Create question for both paths
cat > ~/.claude/questions/pending/${QUESTION_ID}.json <<EOF
{
  "question": "Review found content overlap. How should we proceed?",
  "options": ["merge", "restructure", "proceed"],
  "workflow_id": "${WORKFLOW_ID}",
  "checkpoint": "/tmp/${WORKFLOW_ID}_checkpoint.json",
  "asked_at": "$(date -Iseconds)",
  "context": "Pre-implementation review found duplicate coverage between new section and existing 'Test Execution Standards' section"
}
EOF

# Try quick response (5 min timeout)
notify-send "Claude Code - Document Review" "User decision needed. See: ~/.claude/questions/pending/${QUESTION_ID}.json"

# Poll with timeout...
# (Same polling logic as above)

# If quick response: Update proposed changes and continue
# If escalation: Save checkpoint and exit for main agent handling
