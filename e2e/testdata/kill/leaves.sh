# Asks by a question file as polls.sh does, and ends without a look at the answer.
id=login-$CLAUDE_SUPERVISE_AGENT
if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then
	echo "$CLAUDE_SUPERVISE_ANSWER" > "told.$CLAUDE_SUPERVISE_LAUNCH"
	echo WORKFLOW_COMPLETE
	exit
fi
echo '{"question": "Which auth method?", "options": ["oauth", "jwt"]}' > question.new
mv question.new "$HOME/.claude/questions/pending/$id.json"
echo "Waiting for $HOME/.claude/answers/$id.txt"
patience=600
until [ -e "$HOME/.claude/answers/$id.txt" ]; do
	[ $((patience -= 1)) -gt 0 ] || exit 1
	sleep 0.1
done
