ask() {
  echo "[CLARIFICATION_NEEDED]"
  echo "agent_id: $ID"
  echo "questions:"
  for q in "$@"; do echo "  - $q"; done
  echo "[/CLARIFICATION_NEEDED]"
}
ask "Which database?" "Which port: 80 or 8080?"
