set -euo pipefail
cd "$PROJECT" || {
  echo "[STOP_WORK]"
  echo "agent_id: $AGENT_ID"
  echo "stop_reason: blocker"
  echo "blocker_type: missing_info"
  echo "details: $PROJECT is not there"
  echo "[/STOP_WORK]"
}
