echo "AWAITING_USER_INPUT"
cat << 'EOF'
{
  "context": "Mutation testing found 3 surviving mutants (97% score overall)",
  "stateFile": "/home/user/.claude/projects/myapp/memory/checkpoints/mutation-agent-2026-02-04T10:30:00Z.md",
  "questions": [{
    "id": "q1",
    "question": "Should I create individual fix tasks for each surviving mutant?",
    "header": "Mutants",
    "options": [
      {"label": "Yes - create tasks", "description": "Create 3 separate tasks to address each mutant"},
      {"label": "No - just report", "description": "Document the mutants but don't create tasks"}
    ],
    "multiSelect": false
  }]
}
EOF
