mkdir -p docs
cat > docs/stop.md <<'EOF'
# Stops
[STOP_WORK]
agent_id: AGENT
stop_reason: blocker
blocker_type: error
details: an example
[/STOP_WORK]
WORKFLOW_COMPLETE
EOF
cat docs/stop.md
