echo "AWAITING_USER_INPUT"
cat << 'EOF'
{
  "context": "The migration would drop 2 columns",
  "stateFile": "/tmp/checkpoints/migration.md",
  "questions": [{
    "id": "q1",
    "question": "Drop them?",
    "header": "Columns",
    "options": [
      {"label": "Drop", "description": "they are empty"},
      {"label": "Keep", "description": "nothing is lost"}
    ]
  }]
}
EOF
