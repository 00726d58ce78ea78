# Pauses with a state file and AWAITING_USER_INPUT, and continues with the answer.
if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then
	cat > "prompt.$CLAUDE_SUPERVISE_LAUNCH"
	echo "$CLAUDE_SUPERVISE_ANSWER" > "told.$CLAUDE_SUPERVISE_LAUNCH"
	echo WORKFLOW_COMPLETE
	exit
fi
echo '{"agent": "login", "progress": "designed", "files": ["auth.go"], "decision": "auth method"}' > state.new
mv state.new state.json
cat <<END
AWAITING_USER_INPUT
{
  "context": "Both fit.",
  "stateFile": "state.json",
  "questions": [{
    "id": "auth", "question": "Which auth method?", "header": "Auth",
    "options": [{"label": "oauth", "description": "by a provider"}, {"label": "jwt", "description": "by tokens"}],
    "multiSelect": false
  }]
}
END
