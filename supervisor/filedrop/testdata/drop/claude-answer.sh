#!/bin/bash
# Helper for users to quickly respond to subagent questions

QUESTIONS_DIR=~/.claude/questions/pending
ANSWERS_DIR=~/.claude/answers

# Create answers dir if needed
mkdir -p "$ANSWERS_DIR"

# List pending questions
echo "=== Pending Questions ==="
for qfile in "$QUESTIONS_DIR"/*.json; do
  [ -e "$qfile" ] || continue

  QUESTION_ID=$(basename "$qfile" .json)
  QUESTION=$(jq -r '.question' "$qfile")
  OPTIONS=$(jq -r '.options[]' "$qfile" | paste -sd '|')
  ASKED_AT=$(jq -r '.asked_at' "$qfile")

  echo ""
  echo "ID: $QUESTION_ID"
  echo "Asked: $ASKED_AT"
  echo "Question: $QUESTION"
  echo "Options: $OPTIONS"
done

echo ""
read -p "Question ID to answer: " QUESTION_ID
read -p "Your answer: " ANSWER

# Write answer
echo "$ANSWER" > "$ANSWERS_DIR/${QUESTION_ID}.txt"
echo "Answer saved! Subagent will pick it up."
