# Save state to file
cat > /tmp/agent-pause-state.json << 'EOF'
{
  "agent": "domain-agent",
  "timestamp": "2026-02-04T10:30:00Z",
  "progress": "Analyzed email validation patterns",
  "files": ["src/auth/mod.rs", "src/signup/mod.rs"],
  "decision": "Which validation pattern?",
  "question": {
    "text": "Found two email validation approaches. Which should be standard?",
    "options": ["Strict RFC 5322", "Lenient", "Keep both"]
  }
}
EOF
