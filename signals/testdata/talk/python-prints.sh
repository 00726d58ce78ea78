python3 - <<'EOF'
print("WORKFLOW_COMPLETE")
print("[STOP_WORK]\nagent_id: AGENT\ndetails: x\n[/STOP_WORK]")
EOF
