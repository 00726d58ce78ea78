cat > /tmp/agent-pause-state.json << 'EOF'
{"agent": "domain-agent", "decision": "Which validation pattern?"}
EOF
cat <<MSG
PAUSED_FOR_INPUT: /tmp/agent-pause-state.json

Question: Which should be standard?
A) Strict
B) Lenient
MSG
