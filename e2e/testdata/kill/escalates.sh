# Asks by a question file, waits a little, and escalates, with a checkpoint.
id=login-$CLAUDE_SUPERVISE_AGENT
checkpoint=$PWD/checkpoint.json
if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then
	cat > "prompt.$CLAUDE_SUPERVISE_LAUNCH"
	echo "$CLAUDE_SUPERVISE_ANSWER" > "told.$CLAUDE_SUPERVISE_LAUNCH"
	echo WORKFLOW_COMPLETE
	exit
fi
echo "{\"question\": \"Which auth method?\", \"options\": [\"oauth\", \"jwt\"], \"checkpoint\": \"$checkpoint\"}" > question.new
mv question.new "$HOME/.claude/questions/pending/$id.json"
echo "Waiting for $HOME/.claude/answers/$id.txt"
sleep 0.2
echo '{"workflow_id": "login", "current_step": "choose", "completed_steps": ["design"], "pending_steps": ["build"], "context": "login", "next_action": "build it"}' > checkpoint.new
mv checkpoint.new "$checkpoint"
echo "QUESTION_ESCALATED:$id"
